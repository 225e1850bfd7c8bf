/**
 * What a prompt leaves out, as a policy decided it: small, plain JSON, journalled when it changes. Rendering
 * needs it and the thread, and nothing of the configuration.
 */
export interface Cut {
  /** Who decided: `name@version`. */
  readonly policy: string;
  /** The first unit that is shown; everything older is left out. Null: nothing is. */
  readonly from: UnitPosition | null;
  /** Units after `from` that are left out, by the id of their first message. */
  readonly dropped?: readonly string[];
  /** What becomes of turns that were cancelled or failed. */
  readonly interrupted: InterruptedTurns;
}

/** A unit by its turn (0 for the seed) and its place in it, from 0. */
export interface UnitPosition {
  readonly turn: number;
  readonly unit: number;
}

/** `keep`: shown whole, with synthesised results marked as such. `omit`: left out of prompts. */
export type InterruptedTurns = "keep" | "omit";
