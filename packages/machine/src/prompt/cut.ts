import type { UnitPosition } from "./position.ts";
import type { Fields } from "./fields.ts";
import type { Shrink } from "./shrink.ts";

/**
 * What a prompt leaves out and how it shows the rest, as a policy decided it: small, plain JSON, journalled when it
 * changes. Its size does not grow with the thread, but for `dropped`, which is as long as what it drops. Rendering
 * needs it and the thread, and nothing of the configuration.
 */
export interface Cut {
  /** Who decided: `name@version`. */
  readonly policy: string;
  /** The first unit that is shown; everything older is left out, but for what is pinned. Null: nothing is. */
  readonly from: UnitPosition | null;
  /** Units after `from` that are left out, by the id of their first message. */
  readonly dropped?: readonly string[];
  /** Turns before `from` that are shown as summaries. */
  readonly summarised?: SummarisedTurns;
  /** How what is shown is made shorter, rule after rule. */
  readonly shrink?: readonly Shrink[];
  /** Which data fields of closed turns are shown. */
  readonly fields?: Fields;
  /** The system message is left out. */
  readonly system?: "omit";
  /** What becomes of turns that were cancelled or failed. */
  readonly interrupted: InterruptedTurns;
  /** How many tokens a model reported for one that the counter counted, when this was decided; absent: 1. */
  readonly calibration?: number;
}

/** Turns of the path from one number to another, both included; 0 is the seed. */
export interface TurnRange {
  readonly from: number;
  readonly to: number;
}

/** Turns that stand as summaries: those numbered up to `upTo`, so that one which comes later changes no prompt that is out. */
export interface SummarisedTurns extends TurnRange {
  readonly upTo: number;
}

/** `keep`: shown whole, with synthesised results marked as such. `omit`: left out of prompts. */
export type InterruptedTurns = "keep" | "omit";
