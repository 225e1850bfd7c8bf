import type { Entry, State } from "@colloquy/machine";
import { differenceBetween, type StateDifference } from "@colloquy/machine/inspect";
import { stateAt } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { JournalUnreadableError, ThreadUnknownError } from "../boundary/errors.ts";
import { readJournal } from "../journal/read-journal.ts";
import { withRedactions } from "../journal/redaction.ts";
import type { ThreadRef } from "./thread-ref.ts";

/** Returns the journal of a thread, entry by entry. @throws ThreadUnknownError, JournalUnreadableError, StoreError */
export const exportJournal = async ({ id, host }: ThreadRef): Promise<readonly Entry[]> => {
  const entries = withRedactions(await readJournal(host, id));
  if (entries.length === 0) throw new ThreadUnknownError(id);
  return entries;
};

/** Returns the state after an entry. @throws RangeError when the entry does not exist; errors of `exportJournal` */
export const stateBehind = async (thread: ThreadRef, seq: number): Promise<State> =>
  stateIn(thread, await exportJournal(thread), seq);

/** Returns how the state after entry `to` differs from the state after entry `from`. @throws as above */
export const differenceIn = async (thread: ThreadRef, from: number, to: number): Promise<StateDifference> => {
  const entries = await exportJournal(thread);
  return differenceBetween(stateIn(thread, entries, from), stateIn(thread, entries, to));
};

const stateIn = ({ id }: ThreadRef, entries: readonly Entry[], seq: number): State => {
  if (!(Number.isSafeInteger(seq) && seq >= 0 && seq < entries.length))
    throw new RangeError(`thread "${id}" has the entries 0 to ${entries.length - 1}, and no entry ${seq}`);
  const state = stateAt(entries, seq);
  if (Either.isRight(state)) return state.right;
  throw new JournalUnreadableError(id, `entry ${state.left.seq}: ${state.left.reason}`);
};
