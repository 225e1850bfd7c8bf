import type { JsonObject } from "../thread/json.ts";
import type { Content, ReplyDraft, ToolOutcome } from "../thread/message.ts";

/**
 * A whole round that was had elsewhere joins the thread: what an assistant asked tools for, and what each of them answered.
 * No model is called and no tool is run, and no limit counts it. While a call or a tool is out it waits for the next gap.
 * Needs format 2 of the journal.
 */
export interface RoundAppended {
  readonly type: "round.appended";
  readonly at: number;
  /** What the assistant said, with at least one tool call. */
  readonly reply: ReplyDraft;
  /** Exactly one for each call, in the order of the calls, so that providers' ids may repeat. */
  readonly results: readonly AppendedResult[];
  /** Kept with the assistant's message. */
  readonly metadata?: JsonObject;
}

/** What became of one call of an appended round. */
export interface AppendedResult {
  readonly outcome: ToolOutcome;
  /** Null for an empty result. */
  readonly content: Content | null;
}
