import type { JsonObject } from "../thread/json.ts";
import type { Message } from "../thread/message.ts";
import type { Summary } from "../thread/turn.ts";
import type { Cut, TurnRange } from "./cut.ts";
import type { UnitPosition } from "./position.ts";
import type { Counter } from "./counter.ts";
import type { Fields } from "./fields.ts";
import type { NewestFirst } from "./newest-first.ts";
import type { Shrink } from "./shrink.ts";
import type { Unit } from "./unit.ts";

/**
 * Decides what a prompt shows of a thread. It never sees or returns a prompt: the machine renders what it
 * decides, so no policy can split a round. Pure, total and deterministic, and never writes to what it is given; one
 * that throws is replaced by keep-all for that prompt, and reported.
 */
export interface Policy {
  /** With the version and the options, what a fingerprint hashes. */
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
  /** With more room, or more history to choose from, it shows no less, and nothing shorter. */
  readonly monotone: boolean;
  /** Consecutive prompts are prefixes of each other, but for journalled causes. */
  readonly stable: boolean;
  /**
   * What fits is shown, newest first: no unit is left out while an older one that is not pinned is shown, and the
   * newest turn of which something is left out would not fit as a whole. `true`: into the room; a policy with limits of
   * its own gives them. Absent: it claims nothing. Fields that are left out, and messages without any other field, do not count.
   */
  readonly newestFirst?: boolean | NewestFirst;
  readonly decide: (input: PolicyInput) => PolicyDecision;
  /** What writes the summaries that it shows; absent where it shows none. */
  readonly summariser?: Summariser;
}

/** Has summaries written, in the background and one at a time. */
export interface Summariser {
  /** The system prompt of the model call. */
  readonly instruction: string;
  /** Model and provider parameters, laid over those of the thread: what is not named here, a `response_format` too, goes along as it is there. */
  readonly model: JsonObject;
  /** A summary of more tokens than this is not used. */
  readonly maxTokens: number;
  /** The most that the request for a summary may take. Default: the room of prompts; another, where another model writes summaries. Unit: tokens. */
  readonly requestTokens?: number;
  /** How long a call waits for a summary that it can't fit without, before it does without. Unit: milliseconds. Default 60,000. */
  readonly waitMs?: number;
  /** What to have summarised now; null for nothing. Asked when a turn was answered, before a call, and when a summary has come; turns that ended otherwise wait for the next call. */
  readonly next: (input: PolicyInput) => SummaryWanted | null;
}

/** How long a call waits where the policy does not say. Unit: milliseconds. */
export const defaultWaitMs = 60_000;

/** A summary to be written. */
export interface SummaryWanted {
  /** The turns that it will stand for. */
  readonly covers: TurnRange;
  /** Turns that the model reads as their summaries: those within `covers` are folded into the new one, others are there to be understood. Null for none. The rest of `covers` it reads in full. */
  readonly earlier: TurnRange | null;
}

/** A summary that is asked for: what the model reads of the turns is what prompts would show of them, shortened until it fits. Part of journal format 1. */
export interface SummaryTask extends SummaryWanted {
  /** Turns that were interrupted are left out. */
  readonly interrupted?: "omit";
  readonly fields?: Fields;
  /** The most that each text may take, in UTF-16 units; absent: `longestTranscriptText`. */
  readonly characters?: number;
  /** Not even so is it small enough to be sent; it counts as failed. In tokens. */
  readonly unfit?: { readonly tokens: number; readonly available: number };
}

/** What a policy is given. */
export interface PolicyInput {
  readonly history: History;
  /** Tokens, as `count` counts them, that a prompt may hold: the budget without its reserve, calibrated. Null for no bound. */
  readonly available: number | null;
  readonly budget: Budget | null;
  /** How many tokens a model reports for one that is counted; 1 when nothing is known. `available` has it in it. */
  readonly calibration: number;
  readonly counter: Counter;
  /** Tokens of a message, counted once for each. */
  readonly count: (message: Message) => number;
  /** Tokens of the whole prompt that a decision would give, as it would be rendered. Costs what it shows. */
  readonly measure: (decision: Omit<PolicyDecision, "reason">) => number;
  /** As `shrinkMessage`, each message once, so that what becomes of it is counted once. */
  readonly shrink: (message: Message, rules: readonly Shrink[]) => Message;
  /** What the last prompt left out. */
  readonly lastCut: Cut | null;
  /** The prompt must do without a summary that is not there yet: it was waited for in vain. */
  readonly withoutSummary: boolean;
}

/** The closed turns of the path, newest first and read only as far as a policy looks; the open turn is always shown. */
export interface History {
  /** Without the turns that are left out because they were interrupted. */
  readonly newestFirst: () => Iterable<HistoryTurn>;
  /** What takes room whatever is decided: the system message, the open turn, and what is pinned. */
  readonly fixed: () => readonly Unit[];
  /** Tokens of `fixed`, and what each prompt costs beside its messages. */
  readonly fixedTokens: () => number;
  /**
   * What is shown before a window that begins there, because a prompt begins with a user message: the question of an earlier
   * turn, where neither its own turn has one nor a user begins it; null for nothing. It takes room. (The question of the turn that
   * a window cuts is among the turn's units.)
   */
  readonly lead: (from: UnitPosition) => Unit | null;
  /** Tokens of the message that shows turns as their summaries. */
  readonly summaryTokens: (turns: TurnRange) => number;
}

export interface HistoryTurn {
  /** 0 for the seed, which comes last. */
  readonly number: number;
  readonly interrupted: boolean;
  /** How many messages it has. */
  readonly length: number;
  /** Oldest first. Units with something pinned are among them, marked. */
  readonly units: () => readonly Unit[];
  /** Tokens of its units, those with something pinned left out: they are in `fixedTokens`. */
  readonly tokens: () => number;
  /** The summaries whose last turn it is, and which still hold. */
  readonly summaries: readonly Summary[];
  /** How often a summary of which it was to be the last turn failed. */
  readonly summaryFailures: number;
}

/** How much a prompt may hold. */
export interface Budget {
  /** Tokens of the model's window. */
  readonly tokens: number;
  /** Tokens of it that are left free for the answer. */
  readonly reserve: number;
}

/**
 * What to show: all units from `from` on but those in `dropped`; what is pinned, and the open turn, in any case. A
 * decision that names a position or an id that the thread does not have is invalid.
 */
export interface PolicyDecision {
  /** The first unit to show. Unit 0 of the turn after the newest one, or of turn `Number.MAX_SAFE_INTEGER`, is behind all that has ended. */
  readonly from: UnitPosition | null;
  /** Ids of units after `from` to leave out. */
  readonly dropped?: readonly string[];
  /** Turns, all before `from`, to show as their summaries. One without a summary is shown as a line made by rule. */
  readonly summarised?: TurnRange;
  /** Rules by which what is shown is made shorter, applied one after the other. */
  readonly shrink?: readonly Shrink[];
  readonly fields?: Fields;
  /** Leaves the system message out. */
  readonly system?: "omit";
  /** The budget made it leave something out. */
  readonly pressed?: boolean;
  /** Why what is older than `from` is left out, for a person. */
  readonly reason: string;
  /** Why a unit is dropped, by its id, where `reason` does not say it. */
  readonly reasons?: { readonly [unit: string]: string };
}
