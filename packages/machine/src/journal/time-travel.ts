import * as Either from "fp-ts/lib/Either.js";
import type { Entry } from "../conversation/entry.ts";
import type { State } from "../conversation/state.ts";
import type { JournalError } from "./fold.ts";
import { fold } from "./fold.ts";

/** The state as it was after an entry; or why there is none: no such entry, or a journal that can't be folded that far. */
export const stateAt = (entries: readonly Entry[], seq: number): Either.Either<JournalError, State> => {
  if (Number.isSafeInteger(seq) && seq >= 0 && seq < entries.length) return fold(entries.slice(0, seq + 1));
  const there = entries.length === 0 ? "the journal is empty" : `there are 0 to ${entries.length - 1}`;
  return Either.left({ seq, reason: `there is no entry ${seq}: ${there}` });
};
