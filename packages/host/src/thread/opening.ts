import type { State } from "@colloquy/machine";
import { decodeJournal, describeDecodeError, fold } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { Equipment } from "../equipment.ts";
import { JournalUnreadableError, StoreError } from "../errors.ts";

/**
 * The state of a thread as its journal tells it; null when there is none. Needs no lease.
 *
 * @throws JournalUnreadableError, StoreError
 */
export const load = async ({ store }: Equipment, threadId: string): Promise<State | null> => {
  const stored = await read(store, threadId);
  if (stored.length === 0) return null;
  const entries = decodeJournal(stored);
  if (Either.isLeft(entries)) throw new JournalUnreadableError(threadId, describeDecodeError(entries.left));
  const state = fold(entries.right);
  if (Either.isRight(state)) {
    const whose = state.right.context.threadId;
    if (whose === threadId) return state.right;
    throw new JournalUnreadableError(threadId, `it is the journal of thread "${whose}"; the store mixed them up`);
  }
  throw new JournalUnreadableError(threadId, `entry ${state.left.seq}: ${state.left.reason}`);
};

const read = async (store: Equipment["store"], threadId: string): Promise<readonly unknown[]> => {
  try {
    const stored: unknown = await store.read(threadId);
    // A store may be anybody's code.
    if (Array.isArray(stored)) return stored as readonly unknown[];
    throw new TypeError(`it gave ${stored === null ? "null" : typeof stored}, not a list of entries`);
  } catch (thrown) {
    throw new StoreError(threadId, "read the journal", thrown);
  }
};
