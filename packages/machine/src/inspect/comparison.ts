import type { Message } from "../thread/message.ts";

/** The prompts of two configurations in the same recorded conversations, compared. Plain data. */
export interface PromptComparison {
  readonly journals: readonly JournalComparison[];
  readonly before: PromptFigures;
  readonly after: PromptFigures;
}

/** One journal under both configurations. */
export interface JournalComparison {
  readonly name: string;
  /** The reason why the journal cannot be compared; null if it can. */
  readonly unreadable: string | null;
  /** The number of recorded model calls, without summaries. */
  readonly calls: number;
  /** The number of them that were made elsewhere, in added turns, appended rounds or the seed. */
  readonly imported: number;
  /** The number of them whose prompts differ, or are sent under one configuration only. */
  readonly differing: number;
  /** The first difference. */
  readonly first: PromptDifference | null;
}

/** A model call whose prompt differs, or is sent under one configuration only. */
export interface PromptDifference {
  /** The entry that asks for the call. */
  readonly seq: number;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  /** The index of the first message that differs, from 0; null if both prompts are equal. */
  readonly index: number | null;
  readonly before: PromptSketch;
  readonly after: PromptSketch;
}

/** A short description of one of two prompts. */
export interface PromptSketch {
  readonly messages: number;
  /** Null if the counter fails. */
  readonly tokens: number | null;
  /** The first message that differs from the other prompt; null if this prompt has ended. */
  readonly message: Message | null;
  /** A prompt that does not fit is not sent. */
  readonly fits: boolean;
  /** The policy that cut it: `name@version`. */
  readonly policy: string;
  readonly reason: string;
}

/**
 * The figures of one configuration over all calls of all journals. The counter of `after` counts the tokens of both
 * sides.
 */
export interface PromptFigures {
  /** The policy: `name@version`. */
  readonly policy: string;
  /** The number of calls whose prompt fits and is sent. */
  readonly sent: number;
  /** The tokens of the sent prompts. */
  readonly tokens: number;
  /**
   * The part of `tokens` in beginnings shared with the prompt sent before in the same thread. A provider's cache can
   * keep these.
   */
  readonly keptTokens: number;
  /** The tokens of sent prompts that the next prompt does not repeat. These fall out of such a cache. */
  readonly lostTokens: number;
  /** The number of calls that the counter cannot count; they are excluded from all tokens. */
  readonly uncounted: number;
  /** The number of times that the cut changed. */
  readonly cuts: number;
  /** The summaries that it asks for. */
  readonly summaries: SummaryFigures;
  /** Broken laws, in the order in which they were found. */
  readonly broken: readonly BrokenLaw[];
}

export interface SummaryFigures {
  readonly asked: number;
  /** The number of them that the recordings contain; the others count as failed. */
  readonly answered: number;
  /** The tokens of their requests. */
  readonly tokens: number;
}

/**
 * `well-formed`: the prompt is not well-formed. `fits`: it does not fit, so the turn would have ended. `policy`: the
 * policy failed, and keep-all replaced it.
 */
export interface BrokenLaw {
  readonly journal: string;
  readonly seq: number;
  readonly turn: number;
  readonly step: number;
  readonly law: "well-formed" | "fits" | "policy";
  /** A text for a person. */
  readonly reason: string;
}
