import type { CallLlm, Failure, ReplyDraft, ReportedUsage, ToolDeclaration } from "@colloquy/machine";
import type { Clock } from "./clock.ts";

/**
 * Calls a model once, with exactly the messages of the call, and offers it exactly `context.tools`. It does not retry
 * (the machine does), and it respects `call.idleTimeoutMs`. An error is an outcome. If the handler throws nevertheless,
 * the call has failed, and is not retried.
 */
export interface LlmHandler {
  (call: CallLlm, context: LlmContext): Promise<LlmOutcome>;
  /** Returns the keys that it sends, so that they are removed from failures. Absent: no keys are known. */
  readonly secrets?: () => readonly string[];
  /** Throws a `ConfigurationError` while no call can be made, for instance without a key. Absent: calls can be made. */
  readonly check?: () => void;
}

export interface LlmContext {
  /** Aborted when the answer is no longer wanted. The handler's outcome is ignored after that. */
  readonly signal: AbortSignal;
  /** Called with each piece of the reply, in order; together they equal it. Those of a summary are not shown. */
  readonly onDelta: (delta: LlmDelta) => void;
  /**
   * Called when the call is queued, with the time until which it waits (milliseconds since the epoch; null if unknown),
   * and with `"over"` when it waits no longer. Its ask shows that. Absent if the wait is not shown.
   */
  readonly onWait?: (until: number | null | "over") => void;
  readonly clock: Clock;
  /** The declarations of the tools to offer (`call.tools`), in that order. None for a summary. */
  readonly tools: readonly ToolDeclaration[];
}

/** A piece of a reply. `arguments` is the new piece of them; the first piece of a tool call may be empty. */
export type LlmDelta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "refusal"; readonly text: string }
  | {
      readonly type: "toolCall";
      /** The index among the reply's calls, from 0, as in `toolCalls` of the outcome. It gives the call its id. */
      readonly index: number;
      readonly id: string | null;
      readonly name: string;
      readonly arguments: string;
    };

/** The outcome of a model call. */
export type LlmOutcome =
  | {
      readonly type: "completed";
      readonly reply: ReplyDraft;
      readonly finishReason: string | null;
      readonly usage?: ReportedUsage;
      /** The model that answered, by its own name. */
      readonly model?: string;
      readonly responseId?: string;
    }
  | {
      readonly type: "failed";
      readonly failure: Failure;
      /** The part of the reply that arrived. If absent, the pieces given to `onDelta` are used. */
      readonly partial?: ReplyDraft;
      readonly usage?: ReportedUsage;
    };

/** Returns whether the value is an `LlmDelta`: handlers may be JavaScript, and shown text may be journalled. */
export const isDelta = (given: unknown): boolean => {
  if (typeof given !== "object" || given === null || !("type" in given)) return false;
  if (given.type === "toolCall") return isCallDelta(given);
  const isText = given.type === "text" || given.type === "reasoning" || given.type === "refusal";
  return isText && "text" in given && typeof given.text === "string";
};

const isCallDelta = (given: object): boolean => {
  const { index, id, name, arguments: written } = given as { readonly [member: string]: unknown };
  if (!(Number.isSafeInteger(index) && Number(index) >= 0)) return false;
  return (id === null || typeof id === "string") && typeof name === "string" && typeof written === "string";
};
