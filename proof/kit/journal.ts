import type { Entry, LaterEntry, State } from "@colloquy/machine";
import { decodeJournal, describeDecodeError, fold, foldEntry } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";

/** Decodes stored entries. @throws if they do not decode */
export const entriesIn = (stored: readonly unknown[]): readonly Entry[] => {
  const decoded = decodeJournal(stored);
  if (Either.isLeft(decoded)) throw new Error(`the journal does not decode: ${describeDecodeError(decoded.left)}`);
  return decoded.right;
};

/** Returns the state after some entries. @throws if they do not fold */
export const stateOf = (entries: readonly Entry[]): State => {
  const folded = fold(entries);
  if (Either.isRight(folded)) return folded.right;
  throw new Error(`the journal does not fold: entry ${folded.left.seq}: ${folded.left.reason}`);
};

/** Returns the state after each entry. @throws if they do not fold */
export const statesOf = (entries: readonly Entry[]): readonly State[] => {
  if (entries.length === 0) return [];
  stateOf(entries);
  let state = stateOf(entries.slice(0, 1));
  // `fold` took all of them, so only the first one starts a thread.
  return [state, ...entries.slice(1).map((entry) => (state = foldEntry(state, entry as LaterEntry)))];
};
