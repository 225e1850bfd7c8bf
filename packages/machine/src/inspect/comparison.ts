import type { Message } from "../thread/message.ts";

/** What two configurations would send to a model in the same recorded conversations. Plain data. */
export interface PromptComparison {
  readonly journals: readonly JournalComparison[];
  readonly before: PromptFigures;
  readonly after: PromptFigures;
}

/** One journal under both. */
export interface JournalComparison {
  readonly name: string;
  /** Why it can't be gone through, in words; null when it could. */
  readonly unreadable: string | null;
  /** Model calls that it records, summaries not counted. */
  readonly calls: number;
  /** Of them, those that were made elsewhere: they came with turns that were added, or with the seed. */
  readonly imported: number;
  /** Of them, those whose prompts differ, or are sent under one configuration alone. */
  readonly differing: number;
  /** The first that differs. */
  readonly first: PromptDifference | null;
}

/** A model call whose prompt is another, or is sent under one configuration alone. */
export interface PromptDifference {
  /** The entry that asks for the call. */
  readonly seq: number;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  /** The place of the first message that differs, from 0; null where both prompts are the same. */
  readonly index: number | null;
  readonly before: PromptSketch;
  readonly after: PromptSketch;
}

/** What one of two prompts comes to. */
export interface PromptSketch {
  readonly messages: number;
  /** Null where the counter can't count it. */
  readonly tokens: number | null;
  /** The first message that the other prompt has not in that place; null where this one has ended. */
  readonly message: Message | null;
  /** What does not fit is not sent. */
  readonly fits: boolean;
  /** Who cut it: `name@version`. */
  readonly policy: string;
  readonly reason: string;
}

/** One configuration over all calls of all journals. Tokens of both sides are counted by one counter: that of `after`. */
export interface PromptFigures {
  /** Of its policy: `name@version`. */
  readonly policy: string;
  /** Calls that fit, and are sent. */
  readonly sent: number;
  /** Of the prompts that are sent. */
  readonly tokens: number;
  /** Of `tokens`, those of the beginnings that the prompts have in common with the ones sent before them in their thread: what a provider's cache can keep. */
  readonly keptTokens: number;
  /** Of the prompts that are sent, what the ones after them did not go on from: what falls out of such a cache. */
  readonly lostTokens: number;
  /** Calls that the counter can't count; they are in none of the tokens. */
  readonly uncounted: number;
  /** How often it cut otherwise than before. */
  readonly cuts: number;
  /** Summaries that it asks for. */
  readonly summaries: SummaryFigures;
  /** What must not be, in the order in which it was found. */
  readonly broken: readonly BrokenLaw[];
}

export interface SummaryFigures {
  readonly asked: number;
  /** Of them, those that the recordings have; the others counted as failed. */
  readonly answered: number;
  /** Of the prompts that ask for them. */
  readonly tokens: number;
}

/** `well-formed`: the prompt is not. `fits`: it does not fit, so that the turn would have ended. `policy`: the policy failed, and was replaced by keep-all. */
export interface BrokenLaw {
  readonly journal: string;
  readonly seq: number;
  readonly turn: number;
  readonly step: number;
  readonly law: "well-formed" | "fits" | "policy";
  /** For a person. */
  readonly reason: string;
}
