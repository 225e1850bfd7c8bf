import type { CallLlm, Failure, ReplyDraft, ReportedUsage, ToolDeclaration } from "@colloquy/machine";
import type { Clock } from "./clock.ts";

/**
 * Calls a model: once, with exactly the messages of the call, and offers it exactly `context.tools`. It does not retry
 * (the machine does), and it minds `call.idleTimeoutMs`. What goes wrong is an outcome; a handler that throws all the
 * same counts as failed, not to be retried.
 */
export interface LlmHandler {
  (call: CallLlm, context: LlmContext): Promise<LlmOutcome>;
  /** Gives the keys that it sends, so that they are taken out of failures. Absent: no keys are known. */
  readonly secrets?: () => readonly string[];
  /** Throws a `ConfigurationError` while no call can be made, as without a key. Absent: calls can be made. */
  readonly check?: () => void;
}

export interface LlmContext {
  /** Aborted when the answer is no longer wanted; what the handler returns after that is not looked at. */
  readonly signal: AbortSignal;
  /** Called with what came, as it comes. Pieces, in order; together they are what `reply` will be. Those of a summary are not shown. */
  readonly onDelta: (delta: LlmDelta) => void;
  /**
   * Called when the call waits before it is made: until when (milliseconds since the epoch, null where that is not known), and
   * `"over"` when it waits no longer. Its ask shows that. Absent where nobody looks.
   */
  readonly onWait?: (until: number | null | "over") => void;
  readonly clock: Clock;
  /** The declarations of the tools that the machine decided to offer (`call.tools`), in that order. None for a summary. */
  readonly tools: readonly ToolDeclaration[];
}

/** A piece of a reply. `arguments` is the new piece of them; the first piece of a tool call may be empty. */
export type LlmDelta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "refusal"; readonly text: string }
  | {
      readonly type: "toolCall";
      /** Which of the reply's calls, from 0: its place in `toolCalls` of the outcome. By it the call has its id from the first piece on. */
      readonly index: number;
      readonly id: string | null;
      readonly name: string;
      readonly arguments: string;
    };

/** How a model call ended. */
export type LlmOutcome =
  | {
      readonly type: "completed";
      readonly reply: ReplyDraft;
      readonly finishReason: string | null;
      readonly usage?: ReportedUsage;
      /** The model that answered, as it names itself. */
      readonly model?: string;
      readonly responseId?: string;
    }
  | {
      readonly type: "failed";
      readonly failure: Failure;
      /** What had come; absent, what was given to `onDelta` stands in its place. */
      readonly partial?: ReplyDraft;
      readonly usage?: ReportedUsage;
    };
