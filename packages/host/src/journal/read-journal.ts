import type { Entry, State } from "@colloquy/machine";
import { decodeEntry, decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { JournalUnreadableError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { fromStore } from "../ports/store-call.ts";

/**
 * Reads and decodes all entries of a thread; an unknown thread has none. Needs no lease.
 *
 * @throws JournalUnreadableError, StoreError
 */
export const readJournal = async ({ store }: HostContext, threadId: string): Promise<readonly Entry[]> => {
  const entries = decodeJournal(await readFrom(store, threadId, 0));
  if (Either.isLeft(entries)) throw new JournalUnreadableError(threadId, describeDecodeError(entries.left));
  const first = entries.right[0]?.event;
  if (first?.type === "thread.started" && first.threadId !== threadId)
    throw new JournalUnreadableError(
      threadId,
      `it is the journal of thread "${first.threadId}"; the store mixed them up`,
    );
  return entries.right;
};

/** Reads the undecoded entries of a thread from `fromSeq` on. @throws StoreError */
export const readFrom = (store: HostContext["store"], threadId: string, fromSeq: number): Promise<readonly unknown[]> =>
  fromStore(threadId, "read the journal", async () => {
    const stored: unknown = await store.read(threadId, fromSeq);
    // The store may be foreign JavaScript, so its answer is checked.
    if (Array.isArray(stored)) return stored as readonly unknown[];
    throw new TypeError(`it gave ${stored === null ? "null" : typeof stored}, not a list of entries`);
  });

/** Decodes a stored entry, and checks that its seq is the expected one. Left says what is wrong. */
export const entryAt = (stored: unknown, seq: number): Either.Either<string, Entry> => {
  const entry = decodeEntry(stored, seq);
  if (Either.isLeft(entry)) return Either.left(describeDecodeError(entry.left));
  return entry.right.seq === seq ? entry : Either.left(`entry ${entry.right.seq} stands where ${seq} should`);
};

/** Returns the state to which all entries of a thread fold. @throws JournalUnreadableError */
export const foldedState = (threadId: string, entries: readonly Entry[]): State => {
  const state = fold(entries);
  if (Either.isRight(state)) return state.right;
  throw new JournalUnreadableError(threadId, `entry ${state.left.seq}: ${state.left.reason}`);
};
