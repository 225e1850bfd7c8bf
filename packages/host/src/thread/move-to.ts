import { canonicalText, type Entry, type Refusal } from "@colloquy/machine";
import { redactEntry } from "@colloquy/machine/storage";
import { EventRefusedError, ThreadClosedError, ThreadExistsError, ThreadUnknownError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import { withLease } from "../journal/lease.ts";
import { readJournal } from "../journal/read-journal.ts";
import { finishRedaction } from "../journal/redaction.ts";
import { fromStore } from "../ports/store-call.ts";
import { type Lease, LeaseLostError } from "../ports/store.ts";
import { deleteWords } from "./delete.ts";
import { inTurn, type ThreadRef } from "./thread-ref.ts";

/** What a thread is moved to: a host. */
export interface MoveTarget<Thread extends MovedThread> {
  importJournal(entries: readonly unknown[], options: { readonly threadId: string }): Promise<Thread>;
  thread(threadId: string): Thread;
}

/** A thread there, as far as it is looked at. */
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
  if (Object.is(other, loops)) throw new EventRefusedError(id, sameHost);
  const move = (): Promise<void> =>
    loops.alone(
      id,
      () => withLease(host, id, ({ lease }) => moveJournal(host, lease, other)),
      new ThreadClosedError(id, "moved"),
    );
  await inTurn(thread, move, () => null);
  return other.thread(id);
};

const moveJournal = async (host: HostContext, lease: Lease, other: MoveTarget<MovedThread>): Promise<void> => {
  const { store, leaseTtlMs } = host;
  const { threadId } = lease;
  const entries = await finishRedaction(host, lease, await readJournal(host, threadId));
  if (entries.length === 0) throw new ThreadUnknownError(threadId);
  const left = await fromStore(threadId, "look into its inbox", async () => store.inbox?.unanswered(threadId) ?? []);
  if (left.length > 0) throw new EventRefusedError(threadId, itemsLeft);
  await storeThere(threadId, entries, other);
  // Whoever took the lease meanwhile may have gone on here.
  const isKept = await fromStore(threadId, "renew its lease", () => store.renew(lease, leaseTtlMs));
  if (!isKept) throw new LeaseLostError(lease);
  await deleteWords(host, threadId);
};

/** Stores it, unless that was done before: then nothing but what came of it since is there. */
const storeThere = async (
  threadId: string,
  entries: readonly Entry[],
  other: MoveTarget<MovedThread>,
): Promise<void> => {
  const exists = await existsThere(threadId, entries, other);
  if (exists === null) return;
  const there = other.thread(threadId);
  if (!goesOnFrom(entries, await there.exportJournal())) throw exists;
  // Is it this very thread, in the same store? There its lease can't be had, as it is taken.
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

/** Whether a journal begins with these entries; words may have been taken out of it since. */
const goesOnFrom = (entries: readonly Entry[], there: readonly Entry[]): boolean =>
  entries.every((entry, index) => {
    const own = there[index]?.redacted === true && entry.redacted !== true ? redactEntry(entry) : entry;
    return canonicalText(own) === canonicalText(there[index]);
  });

const sameHost: Refusal = { kind: "invalid", reason: "it is moved to the host that has it; name another one" };

const itemsLeft: Refusal = {
  kind: "busy",
  reason: "something waits in its inbox to be handled, and would be lost; resume the thread, and move it then",
};
