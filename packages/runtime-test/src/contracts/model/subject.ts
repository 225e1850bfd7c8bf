import type { LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import type { CallLlm, ToolDeclaration } from "@colloquy/machine";
import type { ScriptLine } from "../../models/script.ts";
import type { RecordedRequest } from "../../server/http.ts";
import type { RecordedResponse } from "../../server/recorded-response.ts";
import type { ManualClock } from "../store/manual-clock.ts";

/** Makes a handler that calls the server. Each check, or several together, use one handler. */
export type MakeModel = (server: ModelServer) => LlmHandler | Promise<LlmHandler>;

/** The server for a handler's requests, and the settings of the requests. */
export interface ModelServer {
  /** The base URL, as clients of OpenAI's API take it: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  /** The key to send with each request. */
  readonly apiKey: string;
  /** Whether to stream answers; false only for handlers that can work without streaming. */
  readonly stream: boolean;
}

/** The API of a handler's server: chat completions, the Responses API, or text completions. */
export type ModelDialect = "chat" | "responses" | "completions";

/** The path of a handler's requests, after the base URL: `/generate`. */
export type ModelPath = `/${string}`;

/** A feature that a handler may lack. A handler without tools fails a call that offers some. */
export type ModelFeature = "plain" | "tools" | "refusals" | "reasoning" | "redirects";

/** One promise of the port `LlmHandler`, and the check that a handler keeps it. */
export interface ModelCheck {
  /** The promise, as the end of a sentence that begins with "a model". */
  readonly name: string;
  /** Only for handlers that have all of these features. */
  readonly features?: readonly ModelFeature[];
  /** Only for handlers that lack this feature. */
  readonly lack?: ModelFeature;
  /** Rejects when the promise is broken. */
  readonly check: (subject: ModelSubject) => Promise<void>;
}

export type ModelChecks = Readonly<Record<string, ModelCheck["check"]>>;

/** The tools of a check. */
export interface ModelSubject {
  /** The key that the handler sends, and must not disclose. */
  readonly apiKey: string;
  /** Starts a call; a model behind the loopback server answers it. */
  readonly call: (model: LlmHandler, setting?: CallSetting) => Promise<CallUnderTest>;
  /** Starts a call; recorded responses answer it. */
  readonly play: (recorded: readonly RecordedResponse[], setting?: CallSetting) => Promise<CallUnderTest>;
  /** Returns the body of the loopback server's response, in the dialect of the handler's server. */
  readonly wire: (line: ScriptLine, stream: boolean) => Promise<string>;
  /** Awaits the promise. Rejects with an error that names what did not happen, if that takes too long. */
  readonly soon: <Value>(promise: PromiseLike<Value>, what: string) => Promise<Value>;
}

export interface CallSetting {
  readonly fields?: Partial<CallLlm>;
  readonly tools?: readonly ToolDeclaration[];
  /** Default true. */
  readonly stream?: boolean;
  readonly control?: AbortController;
}

/** A running call of the handler. */
export interface CallUnderTest {
  /** Returns the call's outcome. Rejects if the handler throws, or does not end in time. */
  readonly ended: () => Promise<LlmOutcome>;
  readonly deltas: readonly LlmDelta[];
  /** Like `soon` of its subject. Also rejects, with the call's outcome, if the call ends first. */
  readonly during: <Value>(promise: PromiseLike<Value>, what: string) => Promise<Value>;
  /** Resolves when this many pieces were shown. */
  readonly shown: (count: number) => Promise<void>;
  readonly requests: readonly RecordedRequest[];
  readonly clock: ManualClock;
  /** Returns the number of clock timers that the handler has pending. */
  readonly timers: () => number;
  readonly control: AbortController;
}
