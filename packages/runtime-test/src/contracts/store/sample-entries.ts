import type { Lease, Store } from "@colloquy/host";
import type { Entry, JsonObject } from "@colloquy/machine";

/** An entry of this seq. Stores don't look into entries, so those after the first are all of one kind. */
export const entryOf = (seq: number, metadata: JsonObject = {}): Entry => {
  if (seq === 0) return { seq, format: 1, event: { type: "thread.started", at: 0, threadId: "any", metadata } };
  return { seq, event: { type: "turn.annotated", at: seq, turn: 1, name: "note", value: `entry ${seq}`, metadata } };
};

/** Entries from one seq to another, both included. */
export const entriesFrom = (first: number, last: number): readonly Entry[] =>
  Array.from({ length: last - first + 1 }, (_, index) => entryOf(first + index));

/** Long enough for every check that does not say otherwise. */
export const ttlMs = 1000;

/** Takes the lease of a thread that must be free. */
export const take = async (store: Store, threadId: string, owner = "somebody"): Promise<Lease> => {
  const lease = await store.acquire(threadId, owner, ttlMs);
  if (lease === null) throw new Error(`the lease of thread ${JSON.stringify(threadId)} should have been free`);
  return lease;
};

/** Appends, whether the store has to be waited for or not; what it throws or rejects with rejects. */
export const append = async (
  store: Store,
  lease: Lease,
  expectedSeq: number,
  entries: readonly Entry[],
): Promise<void> => {
  await store.append(lease, expectedSeq, entries);
};

/** Writes a thread of `count` entries, and gives its lease back. */
export const write = async (store: Store, threadId: string, count: number): Promise<void> => {
  const lease = await take(store, threadId, "writer");
  await store.append(lease, -1, entriesFrom(0, count - 1));
  await store.release(lease);
};
