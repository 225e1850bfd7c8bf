import type { LlmDelta, LlmHandler, LlmOutcome } from "@colloquy/host";
import type { CallLlm, ToolDeclaration } from "@colloquy/machine";
import type { ScriptLine } from "../../models/script.ts";
import type { RecordedRequest } from "../../server/recorded-request.ts";
import type { RecordedResponse } from "../../server/recorded-response.ts";
import type { ManualClock } from "../store/manual-clock.ts";

/** Makes a handler that calls the server. It is asked for one for each check, or for several. */
export type MakeModel = (server: ModelServer) => LlmHandler | Promise<LlmHandler>;

/** Where a handler is to send its requests, and how. */
export interface ModelServer {
  /** The base URL, as clients of OpenAI's API take it: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  /** The key that goes with each request. */
  readonly apiKey: string;
  /** Whether answers are to be streamed; false only for handlers that can do without. */
  readonly stream: boolean;
}

/** What the server of a handler speaks: chat completions, the Responses API, or text completions. */
export type ModelDialect = "chat" | "responses" | "completions";

/** The path of a handler's requests, behind the base URL: `/generate`. */
export type ModelPath = `/${string}`;

/** What a handler may be without. One without tools says so when it is offered some. */
export type ModelFeature = "plain" | "tools" | "refusals" | "reasoning" | "redirects";

/** One promise of the port `LlmHandler`, and how to see whether a handler keeps it. */
export interface ModelCheck {
  /** The promise, as the end of a sentence that begins with "a model". */
  readonly name: string;
  /** Only for handlers that have all of them. */
  readonly features?: readonly ModelFeature[];
  /** Only for handlers that are without it. */
  readonly lack?: ModelFeature;
  /** Rejects when the promise is broken. */
  readonly check: (subject: ModelSubject) => Promise<void>;
}

/** Checks by the promises that they look at. */
export type ModelChecks = Readonly<Record<string, ModelCheck["check"]>>;

/** What a check works with. */
export interface ModelSubject {
  /** The key that the handler sends, and that must not come to light. */
  readonly apiKey: string;
  /** Starts a call that a model behind the loopback server answers. */
  readonly call: (model: LlmHandler, setting?: CallSetting) => Promise<CallUnderTest>;
  /** Starts a call that recorded responses answer. */
  readonly play: (recorded: readonly RecordedResponse[], setting?: CallSetting) => Promise<CallUnderTest>;
  /** The body with which the loopback server answers a request, as the handler's server speaks. */
  readonly wire: (line: ScriptLine, stream: boolean) => Promise<string>;
  /** What the promise gives; rejects, and says what did not happen, when that takes too long. */
  readonly soon: <Value>(promise: PromiseLike<Value>, what: string) => Promise<Value>;
}

export interface CallSetting {
  readonly fields?: Partial<CallLlm>;
  readonly tools?: readonly ToolDeclaration[];
  /** Default true. */
  readonly stream?: boolean;
  readonly control?: AbortController;
}

/** A call of the handler, under way. */
export interface CallUnderTest {
  /** How it ends. Rejects if the handler throws, or never ends. */
  readonly ended: () => Promise<LlmOutcome>;
  readonly deltas: readonly LlmDelta[];
  /** As `soon` of its subject; rejects also, and says how the call ended, when that comes first. */
  readonly during: <Value>(promise: PromiseLike<Value>, what: string) => Promise<Value>;
  /** Resolves when so many pieces were shown. */
  readonly shown: (count: number) => Promise<void>;
  readonly requests: readonly RecordedRequest[];
  readonly clock: ManualClock;
  /** How many wake-ups of the clock the handler waits for. */
  readonly timers: () => number;
  readonly control: AbortController;
}
