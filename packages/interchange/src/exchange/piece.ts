import type { SeedDraft } from "@colloquy/machine";
import type { Lose, Loss } from "./loss.ts";

/** A problem of a list that a repair can fix. */
export interface Irregularity {
  readonly index: number;
  /** Tells what is wrong and how to fix it. */
  readonly reason: string;
  /** The loss that a repair causes. */
  readonly repair: Loss;
}

/** The draft of a foreign item. An item may give several pieces. */
export interface Piece {
  /** The index of the item in its list. */
  readonly index: number;
  readonly draft: SeedDraft;
  /** A user's message that is not an ask (an item that only its own format can read); it opens no turn. */
  readonly opensNoTurn?: true;
}

/** The content of a list, before calls and results are paired. */
export interface Reading {
  readonly pieces: readonly Piece[];
  readonly losses: readonly Loss[];
  /** Problems apart from unpaired calls and results. The pieces are in their repaired form. */
  readonly irregularities: readonly Irregularity[];
}

/** Collects what the readers of one list find. */
export interface Notebook extends Reading {
  readonly add: (index: number, draft: SeedDraft, opensNoTurn?: true) => void;
  readonly mend: (irregularity: Irregularity) => void;
  /** Returns a function that reports losses of an item. */
  readonly loseAt: (index: number) => Lose;
}

/** Creates an empty notebook. */
export const notebook = (): Notebook => {
  const pieces: Piece[] = [];
  const losses: Loss[] = [];
  const irregularities: Irregularity[] = [];
  return {
    pieces,
    losses,
    irregularities,
    mend: (irregularity) => irregularities.push(irregularity),
    add: (index, draft, opensNoTurn) =>
      pieces.push({ index, draft, ...(opensNoTurn === undefined ? {} : { opensNoTurn }) }),
    loseAt: (index) => (path, what, why) => losses.push({ index, path, what, why }),
  };
};
