import * as Either from "fp-ts/lib/Either.js";
import { begin } from "../conversation/update/begin.ts";
import { type Entry, isLater, type LaterEntry } from "../conversation/protocol/entry.ts";
import { follow } from "../conversation/update/plan.ts";
import type { State } from "../conversation/protocol/data.ts";
import { ownedState } from "../conversation/protocol/thaw.ts";
import { update } from "../conversation/update/update.ts";
import { frozen, frozenCopy } from "../thread/plain-data.ts";

/** The reason why a journal is invalid, and the entry. */
export interface JournalError {
  readonly seq: number;
  readonly reason: string;
}

/**
 * Folds a journal to a state. The result equals the state of the transitions, at every prefix. It needs no
 * configuration, since the entries store the decisions.
 */
export const fold = (entries: readonly Entry[]): Either.Either<JournalError, State> => folded(entries, null);

/**
 * Folds like `fold`, and calls `visit` for each entry after the first. For an invalid journal it visits the entries
 * before the error.
 */
export const foldVisiting = (entries: readonly Entry[], visit: Visit): Either.Either<JournalError, State> =>
  folded(entries, visit);

/** Returns the state after one more entry. */
export const foldEntry = (state: State, entry: LaterEntry): State =>
  frozen(after(ownedState(state), frozenCopy(entry)));

/** Gets a copy of an entry, which is immutable like the states. */
export type Visit = (entry: LaterEntry, before: State, after: State) => void;

const folded = (entries: readonly Entry[], visit: Visit | null): Either.Either<JournalError, State> => {
  const first = entries[0];
  if (first === undefined) return Either.left({ seq: 0, reason: "the journal is empty" });
  if (first.event.type !== "thread.started")
    return wrong(0, `it begins with "${first.event.type}", not with "thread.started"`);
  // An entry that was not decoded may hold anything.
  const { seq }: { readonly seq: number } = first;
  if (seq !== 0) return wrong(0, `entry ${seq} stands where 0 should`);
  const begun = begin(frozenCopy(first.event));
  if (Either.isLeft(begun)) return wrong(0, begun.left);
  let state: State = { value: "idle", context: begun.right };
  for (let index = 1; index < entries.length; index++) {
    const given = entries[index];
    if (given === undefined || !isLater(given)) return wrong(index, "a second beginning");
    if (given.seq !== index)
      return wrong(index, `entry ${given.seq} stands where ${index} should: the sequence has a gap or a repetition`);
    const entry = frozenCopy(given);
    const before = state;
    state = after(before, entry);
    if (visit !== null) visit(entry, frozen(before), frozen(state));
  }
  // States that were not visited are frozen here, each part once.
  return Either.right(frozen(state));
};

const after = (state: State, { event, decided = {} }: LaterEntry): State => {
  const plan = update(state.context, event, decided);
  return { value: follow(state.value, plan.arrow), context: plan.data };
};

const wrong = (seq: number, reason: string): Either.Either<JournalError, never> => Either.left({ seq, reason });

/** Returns the state after an entry, or an error: there is no such entry, or the journal cannot be folded that far. */
export const stateAt = (entries: readonly Entry[], seq: number): Either.Either<JournalError, State> => {
  if (Number.isSafeInteger(seq) && seq >= 0 && seq < entries.length) return fold(entries.slice(0, seq + 1));
  const there = entries.length === 0 ? "the journal is empty" : `there are 0 to ${entries.length - 1}`;
  return Either.left({ seq, reason: `there is no entry ${seq}: ${there}` });
};
