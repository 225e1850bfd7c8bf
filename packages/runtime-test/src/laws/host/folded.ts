import type { Entry, LaterEntry, State } from "@colloquy/machine";
import { fold, foldEntry } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { LawBroken } from "../evidence/law-broken.ts";

/** Returns the state to which entries fold. @throws LawBroken if they do not fold; `where` comes before its message */
export const foldedUnder = (law: string, entries: readonly Entry[], where = ""): State => {
  const state = fold(entries);
  if (Either.isRight(state)) return state.right;
  const { seq, reason } = state.left;
  throw new LawBroken(law, `${where}the journal can't be folded: entry ${seq}: ${reason}`);
};

/** Returns the state after one more entry; the first one starts a journal. @throws LawBroken as above */
export const stateAfter = (law: string, state: State | null, entry: Entry, where = ""): State =>
  // The type of `event` does not narrow that of the entry: the first one alone has the format.
  state === null || "format" in entry ? foldedUnder(law, [entry], where) : foldEntry(state, entry satisfies LaterEntry);
