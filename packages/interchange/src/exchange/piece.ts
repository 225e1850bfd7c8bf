import type { SeedDraft } from "@colloquy/machine";
import type { Lose, Loss } from "./loss.ts";

/** What keeps a list from being a conversation that can go on, and what mends it. */
export interface Irregularity {
  readonly index: number;
  /** What is wrong, and what to do about it. */
  readonly reason: string;
  /** What a repair does. */
  readonly repair: Loss;
}

/** What an item of a foreign list says, as the thread would have it. An item may say several things. */
export interface Piece {
  /** The place of the item in its list. */
  readonly index: number;
  readonly draft: SeedDraft;
  /** A user's message that is no ask (an item that only its own format can read): it opens no turn. */
  readonly opensNoTurn?: true;
}

/** What was read of a list, before calls and results are paired. */
export interface Reading {
  readonly pieces: readonly Piece[];
  readonly losses: readonly Loss[];
  /** What was found beside calls without results and the like; the pieces are as a repair leaves them. */
  readonly irregularities: readonly Irregularity[];
}

/** Where the readers of one list put what they find. */
export interface Notebook extends Reading {
  readonly add: (index: number, draft: SeedDraft, opensNoTurn?: true) => void;
  readonly mend: (irregularity: Irregularity) => void;
  /** To note losses of an item. */
  readonly loseAt: (index: number) => Lose;
}

/** An empty one. */
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
