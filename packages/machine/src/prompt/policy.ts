import type { JsonObject } from "../thread/plain-data.ts";
import type { Message } from "../thread/message.ts";
import type { Summary } from "../thread/turn.ts";
import type { Cut, Fields, TurnRange } from "./cut.ts";
import type { Unit, UnitPosition } from "./unit.ts";
import type { Counter } from "./counter.ts";
import type { NewestFirst } from "./newest-first.ts";
import type { Shrink } from "./shrink.ts";

/**
 * Decides what a prompt shows of a thread. It never sees or returns a prompt: the machine renders its decision, so no
 * policy can split a round. It must be pure, total and deterministic, and never write to its input. If it throws,
 * keep-all replaces it for that prompt, and the failure is reported.
 */
export interface Policy {
  /** The fingerprint hashes the name, the version and the options. */
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
  /** True if, with more room or more history, it shows no less, and nothing shorter. */
  readonly monotone: boolean;
  /** True if consecutive prompts are prefixes of each other, except for journalled causes. */
  readonly stable: boolean;
  /**
   * The claim that it shows as much as fits, newest first. No unit is left out while an older unpinned one is shown.
   * The newest turn with something left out would not fit as a whole. `true`: it fills the room; a policy with its own
   * limits states them. Absent: no claim. Left-out fields, and messages without any other field, do not count.
   */
  readonly newestFirst?: boolean | NewestFirst;
  readonly decide: (input: PolicyInput) => PolicyDecision;
  /** Writes the summaries that it shows; absent if it shows none. */
  readonly summariser?: Summariser;
}

/** Requests summaries, in the background and one at a time. */
export interface Summariser {
  /** The system prompt of the model call. */
  readonly instruction: string;
  /**
   * Model and provider parameters. They override those of the thread; all others apply to it too, such as a
   * `response_format`.
   */
  readonly model: JsonObject;
  /** A longer summary is not used. Unit: tokens. */
  readonly maxTokens: number;
  /**
   * The largest size of the request for a summary. Default: the room of prompts. Set it if another model writes
   * summaries. Unit: tokens.
   */
  readonly requestTokens?: number;
  /**
   * The time that a call waits for a summary if its prompt does not fit without one. Unit: milliseconds. Default
   * 60,000.
   */
  readonly waitMs?: number;
  /**
   * Returns the summary to request now, or null. Called after a turn was answered, before a call, and when a summary
   * arrived. Turns that ended otherwise wait for the next call.
   */
  readonly next: (input: PolicyInput) => SummaryWanted | null;
}

/** The default wait of a call for a summary, in milliseconds. */
export const defaultWaitMs = 60_000;

/** A summary to be written. */
export interface SummaryWanted {
  /** The turns that it will stand for. */
  readonly covers: TurnRange;
  /**
   * Turns that the model reads as summaries; null for none. Those within `covers` are folded into the new summary, and
   * others are background. It reads the rest of `covers` in full.
   */
  readonly earlier: TurnRange | null;
}

/**
 * A requested summary. The model reads what prompts would show of the turns, shortened until it fits. Part of journal
 * format.
 */
export interface SummaryTask extends SummaryWanted {
  /** Leaves out interrupted turns. */
  readonly interrupted?: "omit";
  readonly fields?: Fields;
  /** The largest size of each text, in UTF-16 units; `longestTranscriptText` if absent. */
  readonly characters?: number;
  /** Set if the request is too large even so; the summary then counts as failed. In tokens. */
  readonly unfit?: { readonly tokens: number; readonly available: number };
}

/** The input of a policy. */
export interface PolicyInput {
  readonly history: History;
  /**
   * The tokens, in the units of `count`, that a prompt may hold: the budget without its reserve, calibrated. Null for
   * no bound.
   */
  readonly available: number | null;
  readonly budget: Budget | null;
  /** The number of tokens that a model reports for each counted one; 1 if unknown. `available` includes it. */
  readonly calibration: number;
  readonly counter: Counter;
  /** Returns the tokens of a message. Each message is counted once. */
  readonly count: (message: Message) => number;
  /** Returns the tokens of the whole prompt that a decision would give. The cost is that of its shown part. */
  readonly measure: (decision: Omit<PolicyDecision, "reason">) => number;
  /** Works as `shrinkMessage`, but shrinks each message once, so that the result is counted once. */
  readonly shrink: (message: Message, rules: readonly Shrink[]) => Message;
  /** The cut of the last prompt. */
  readonly lastCut: Cut | null;
  /** True if the prompt must do without a pending summary, because the wait for it failed. */
  readonly withoutSummary: boolean;
}

/** The closed turns of the path, newest first, read only as far as a policy looks. The open turn is always shown. */
export interface History {
  /** Excludes turns that are left out because they were interrupted. */
  readonly newestFirst: () => Iterable<HistoryTurn>;
  /** Returns the units that take room whatever is decided: the system message, the open turn, and pinned messages. */
  readonly fixed: () => readonly Unit[];
  /** Returns the tokens of `fixed` and of the overhead of a prompt. */
  readonly fixedTokens: () => number;
  /**
   * Returns the question of an earlier turn that is shown before a window which begins there, because a prompt begins
   * with a user message. Returns null if the window begins with a user message, or if its own turn has a question. The
   * question takes room. (The question of a turn that the window cuts is among that turn's units.) A policy whose
   * decision hides a question says so by `isShown`; the nearest one that is shown leads.
   */
  readonly lead: (from: UnitPosition, isShown?: (question: Unit) => boolean) => Unit | null;
  /** Returns the tokens of the message that shows turns as their summaries. */
  readonly summaryTokens: (turns: TurnRange) => number;
}

export interface HistoryTurn {
  /** 0 for the seed, which comes last. */
  readonly number: number;
  readonly interrupted: boolean;
  /** The number of its messages. */
  readonly length: number;
  /** Oldest first. Units with a pinned message are included and marked. */
  readonly units: () => readonly Unit[];
  /** Returns the tokens of its units without pinned ones, which are in `fixedTokens`. */
  readonly tokens: () => number;
  /** The valid summaries that end with this turn. */
  readonly summaries: readonly Summary[];
  /** The number of failed summaries that would have ended with this turn. */
  readonly summaryFailures: number;
}

/** The size of a prompt. */
export interface Budget {
  /** The tokens of the model's window. */
  readonly tokens: number;
  /** The part of them that is kept free for the answer. */
  readonly reserve: number;
}

/**
 * The units to show: all from `from` on except those in `dropped`; pinned messages and the open turn are always shown.
 * A decision that names a position or an id that the thread does not have is invalid.
 */
export interface PolicyDecision {
  /**
   * The first shown unit. Unit 0 of the turn after the newest one, or of turn `Number.MAX_SAFE_INTEGER`, is after all
   * closed turns.
   */
  readonly from: UnitPosition | null;
  /** The ids of units after `from` that are left out. */
  readonly dropped?: readonly string[];
  /**
   * Turns, all before `from`, that are shown as their summaries. A turn without a summary is shown as a line made by
   * rule.
   */
  readonly summarised?: TurnRange;
  /** The rules that shorten shown messages, applied in order. */
  readonly shrink?: readonly Shrink[];
  readonly fields?: Fields;
  /** Leaves the system message out. */
  readonly system?: "omit";
  /** True if the budget forced it to leave something out. */
  readonly pressed?: boolean;
  /** Tells a person why units older than `from` are left out. */
  readonly reason: string;
  /** Reasons for dropped units, by id, if they differ from `reason`. */
  readonly reasons?: { readonly [unit: string]: string };
}

/** Keeps everything. The machine recognises this function by its identity, and does not check its decision. */
export const keepEverything = (): PolicyDecision => ({ from: null, reason: "everything is kept" });
