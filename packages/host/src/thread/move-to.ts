import { canonicalText, type Entry, type Refusal } from "@colloquy/machine";
import { redactEntry } from "@colloquy/machine/storage";
import { EventRefusedError, ThreadClosedError, ThreadExistsError, ThreadUnknownError } from "../boundary/errors.ts";
import { kinds } from "../boundary/option-kinds.ts";
import type { HostContext } from "../context/host-context.ts";
import { isRequest } from "../delegation/inbox-items.ts";
import type { HeldLease } from "../journal/lease.ts";
import { readJournal, finishRedaction } from "../journal/read-journal.ts";
import { type Lease, LeaseLostError } from "../ports/store.ts";
import { closedHere, inTurn, type ThreadRef } from "./thread-ref.ts";

/** The target of a move: a host. */
export interface MoveTarget<Thread extends MovedThread> {
  importJournal(entries: readonly unknown[], options: { readonly threadId: string }): Promise<Thread>;
  thread(threadId: string): Thread;
}

/** The part of a thread there that the move uses. */
interface MovedThread {
  exportJournal(): Promise<readonly Entry[]>;
  close(): Promise<void>;
}

/** Stores the journal of a thread with another host, and then deletes it here. */
export const moveThread = async <Thread extends MovedThread>(
  thread: ThreadRef,
  other: MoveTarget<Thread>,
): Promise<Thread> => {
  const { id, host, loops } = thread;
  if (!isTarget.fits(other)) throw new EventRefusedError(id, noTarget);
  if (Object.is(other, loops)) throw new EventRefusedError(id, sameHost);
  const move = ({ lease }: HeldLease): Promise<void> => moveJournal(host, lease, other);
  await inTurn(thread, () => closedHere(thread, move, new ThreadClosedError(id, "moved")));
  return other.thread(id);
};

const moveJournal = async (host: HostContext, lease: Lease, other: MoveTarget<MovedThread>): Promise<void> => {
  const { store, leaseTtlMs } = host;
  const { threadId } = lease;
  const entries = await finishRedaction(host, lease, await readJournal(host, threadId));
  if (entries.length === 0) throw new ThreadUnknownError(threadId);
  const left = (await store.inbox?.unanswered(threadId)) ?? [];
  if (!left.every(isRequest)) throw new EventRefusedError(threadId, itemsLeft);
  await storeThere(threadId, entries, other);
  // If another host took the lease meanwhile, it may have continued the thread.
  const isKept = await store.renew(lease, leaseTtlMs);
  if (!isKept) throw new LeaseLostError(lease);
  await deleteWords(host, lease);
};

/** Stores the journal, unless that was done before. Then only entries that follow from it may be there. */
const storeThere = async (
  threadId: string,
  entries: readonly Entry[],
  other: MoveTarget<MovedThread>,
): Promise<void> => {
  const exists = await existsThere(threadId, entries, other);
  if (exists === null) return;
  const there = other.thread(threadId);
  if (!goesOnFrom(entries, await there.exportJournal())) throw exists;
  // It may be this very thread, in the same store. Then its lease cannot be taken there, since it is taken here.
  await there.close();
  await existsThere(threadId, entries, other);
};

const existsThere = async (
  threadId: string,
  entries: readonly Entry[],
  other: MoveTarget<MovedThread>,
): Promise<ThreadExistsError | null> => {
  try {
    await other.importJournal(entries, { threadId });
    return null;
  } catch (thrown) {
    if (thrown instanceof ThreadExistsError) return thrown;
    throw thrown;
  }
};

/** Returns whether a journal starts with these entries. Words may have been redacted in it since. */
const goesOnFrom = (entries: readonly Entry[], there: readonly Entry[]): boolean =>
  entries.every((entry, index) => {
    const own = there[index]?.redacted === true && entry.redacted !== true ? redactEntry(entry) : entry;
    return canonicalText(own) === canonicalText(there[index]);
  });

const isTarget = kinds.having("a host", "importJournal", "thread");

const noTarget: Refusal = { kind: "invalid", reason: "a thread is moved to a host; give one that createHost() made" };

const sameHost: Refusal = { kind: "invalid", reason: "it is moved to the host that has it; name another one" };

const itemsLeft: Refusal = {
  kind: "busy",
  reason: "something waits in its inbox to be handled, and would be lost; resume the thread, and move it then",
};

/**
 * Deletes a thread. If it is open here, it is closed first. Returns false if there was none.
 *
 * @throws ThreadHeldError when another host holds it, LeaseLostError, StoreError
 */
export const deleteThread = async (thread: ThreadRef): Promise<boolean> => {
  const { id, host } = thread;
  const remove = (): Promise<boolean> =>
    closedHere(thread, ({ lease }) => deleteWords(host, lease), new ThreadClosedError(id, "deleted"));
  // A thread that is only followed here is not closed needlessly.
  return inTurn(thread, remove).catch((error: unknown) => {
    if (error instanceof ThreadUnknownError) return remove();
    throw error;
  });
};

/** Deletes all words of a thread, here and in the store. @throws LeaseLostError, StoreError */
const deleteWords = ({ logs, store }: HostContext, lease: Lease): Promise<boolean> => {
  const { threadId } = lease;
  logs.forget(threadId);
  return store.delete(threadId, lease);
};
