import type { UnitPosition } from "./position.ts";
import type { Fields } from "./fields.ts";
import type { Shrink } from "./shrink.ts";

/**
 * A policy's decision about a prompt: what it leaves out, and how it shows the rest. It is small, plain JSON, and
 * journalled when it changes. Its size does not grow with the thread, except for `dropped`, which lists each dropped
 * unit. Rendering needs only the cut and the thread, not the configuration.
 */
export interface Cut {
  /** The deciding policy: `name@version`. */
  readonly policy: string;
  /** The first shown unit; older units are left out unless pinned. Null: nothing is left out. */
  readonly from: UnitPosition | null;
  /** Units after `from` that are left out, by the id of their first message. */
  readonly dropped?: readonly string[];
  /** Turns before `from` that are shown as summaries. */
  readonly summarised?: SummarisedTurns;
  /** The rules that shorten shown messages, applied in order. */
  readonly shrink?: readonly Shrink[];
  /** The data fields of closed turns that are shown. */
  readonly fields?: Fields;
  /** The system message is left out. */
  readonly system?: "omit";
  /** The handling of turns that were cancelled or failed. */
  readonly interrupted: InterruptedTurns;
  /** The number of tokens that a model reported for each counted one, at the time of the decision; 1 if absent. */
  readonly calibration?: number;
}

/** Turns of the path from one number to another, inclusive; 0 is the seed. */
export interface TurnRange {
  readonly from: number;
  readonly to: number;
}

/**
 * Turns shown as summaries with numbers up to `upTo`. The bound keeps outstanding prompts unchanged when a later
 * summary arrives.
 */
export interface SummarisedTurns extends TurnRange {
  readonly upTo: number;
}

/** `keep`: shown whole, with synthesised results marked as such. `omit`: left out of prompts. */
export type InterruptedTurns = "keep" | "omit";
