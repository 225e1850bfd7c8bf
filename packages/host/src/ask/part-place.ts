/**
 * Where a part stands among those that were shown of a turn: a cursor, taken apart. A part keeps its place wherever it is
 * shown, in whichever process.
 */
export interface PartPlace {
  readonly turn: number;
  /** The token of the lease under which it was shown, or `ofJournal`. */
  readonly epoch: number;
  /** Among the parts of the epoch, from 0. Deltas that go on with one another are one part. */
  readonly index: number;
  /** Of a delta, how many characters (UTF-16 units) were shown; of another part 0. */
  readonly offset: number;
}

/** The epoch of parts that are made from the journal, which has the same ones for every process. */
export const ofJournal = -1;

/** A place as a text that a caller can keep. */
export const cursorAt = ({ turn, epoch, index, offset }: PartPlace): string =>
  `${turn}.${epoch === ofJournal ? "journal" : epoch}.${index}.${offset}`;

/** The place that a cursor names; null for a text that is none. */
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
