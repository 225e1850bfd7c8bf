import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import type { CallLlm, Failure } from "@colloquy/machine";
import type { FailureSetting } from "../failure/failure.ts";
import type { EventStream } from "../reply/event-stream.ts";
import type { StreamState } from "../reply/whole-stream.ts";

/** One way to ask a server for a reply: where requests go, and how its answers are read. */
export interface Endpoint {
  /** Behind the base URL, such as `/chat/completions`. */
  readonly path: string;
  /** What takes one streamed answer, and reports its pieces. */
  readonly stream: (onDelta: (delta: LlmDelta) => void, call: CallLlm) => AnswerStream;
  /** How a body that came in one piece ended the call. Null when it holds neither an answer nor an error. */
  readonly outcomeOfBody: (body: string, setting: FailureSetting, call: CallLlm) => LlmOutcome | null;
}

/** One streamed answer. */
export interface AnswerStream extends EventStream {
  readonly state: Readonly<StreamState>;
  /** How the answer, as far as it came, ended the call. No more comes. */
  readonly outcome: (setting: FailureSetting) => LlmOutcome;
  /** The call failed for a reason outside the stream; what had come goes with it. */
  readonly failed: (failure: Failure) => LlmOutcome;
}
