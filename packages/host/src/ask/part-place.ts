/**
 * The place of a part among those that were shown of a turn: a parsed cursor. A part keeps its place in every process
 * that shows it.
 */
export interface PartPlace {
  readonly turn: number;
  /** The token of the lease under which it was shown, or `ofJournal`. */
  readonly epoch: number;
  /** The index among the parts of the epoch, from 0. Deltas that continue one another are one part. */
  readonly index: number;
  /** The number of characters (UTF-16 units) of a delta that were shown; 0 for another part. */
  readonly offset: number;
}

/** The epoch of parts that are made from the journal. Every process makes the same ones. */
export const ofJournal = -1;

/** Returns the cursor of a place: a text that a caller can keep. */
export const cursorAt = ({ turn, epoch, index, offset }: PartPlace): string =>
  `${turn}.${epoch === ofJournal ? "journal" : epoch}.${index}.${offset}`;

/** Returns the place that a cursor names; null for a text that is not a cursor. */
export const placeOf = (cursor: string): PartPlace | null => {
  const [, turn, epoch, index, offset] = /^(\d{1,16})\.(journal|\d{1,16})\.(\d{1,16})\.(\d{1,16})$/u.exec(cursor) ?? [];
  if (turn === undefined) return null;
  return {
    turn: Number(turn),
    epoch: epoch === "journal" ? ofJournal : Number(epoch),
    index: Number(index),
    offset: Number(offset),
  };
};
