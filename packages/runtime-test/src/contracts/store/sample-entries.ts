import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry, JsonObject } from "@colloquy/machine";
import * as fc from "fast-check";

import type { Subject } from "./subject.ts";

/** Returns an entry with this seq. Stores do not read entries, so all after the first are of one kind. */
export const entryOf = (seq: number, metadata: JsonObject = {}): Entry => {
  if (seq === 0) return { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "any", metadata } };
  return { seq, event: { type: "turn.annotated", at: seq, turn: 1, name: "note", value: `entry ${seq}`, metadata } };
};

export const entriesFrom = (first: number, last: number): readonly Entry[] =>
  Array.from({ length: last - first + 1 }, (_, index) => entryOf(first + index));

/** Returns the number of cases that a check tries: `cases`, or fewer if `fc.configureGlobal` sets a lower number. */
export const atMost = (cases: number): number => Math.min(cases, fc.readConfigureGlobal().numRuns ?? cases);

/** A lease time, in milliseconds, that is long enough for most checks. */
export const ttlMs = 1000;

export const take = async (store: Store, threadId: string, owner = "somebody"): Promise<Lease> => {
  const lease = await store.acquire(threadId, owner, ttlMs);
  if (lease === null) throw new Error(`the lease of thread ${JSON.stringify(threadId)} should have been free`);
  return lease;
};

/** Appends to a synchronous or asynchronous store. Rejects with any error that the store throws or rejects with. */
export const append = async (store: Store, ...given: Parameters<Store["append"]>): Promise<void> => {
  await store.append(...given);
};

/** Begins the thread "thread" with these entries. Returns its lease, which is in force. */
export const begun = async (store: Store, entries: readonly Entry[], owner?: string): Promise<Lease> => {
  const lease = await take(store, "thread", owner);
  await store.append(lease, -1, entries);
  return lease;
};

export const write = (store: Store, threadId: string, count: number): Promise<void> =>
  writeEntries(store, threadId, entriesFrom(0, count - 1));

/** Adds entries to a thread, or begins it with them, and releases its lease. */
export const writeEntries = async (store: Store, threadId: string, entries: readonly Entry[]): Promise<void> => {
  const lease = await take(store, threadId, "writer");
  await store.append(lease, (entries[0]?.seq ?? 0) - 1, entries);
  await store.release(lease);
};

export const startOf = (at: number, metadata?: JsonObject): Entry => ({
  seq: 0,
  format: 2,
  event: { type: "thread.started", at, threadId: "any", ...(metadata && { metadata }) },
});

export const saying = (seq: number, input: string, at: number = seq): Entry => ({
  seq,
  event: { type: "ask.received", at, askId: `ask ${seq}`, input },
});

/** Returns leases that no longer allow a write to the thread, by the way in which they were lost. */
export const lostLeases = async (
  { store, clock }: Pick<Subject, "store" | "clock">,
  threadId: string,
): Promise<Readonly<Record<string, Lease>>> => {
  const released = await take(store, threadId, "released");
  await store.release(released);
  const taken = await take(store, threadId, "taken");
  clock.advance(ttlMs);
  const ranOut = await take(store, threadId, "ran out");
  clock.advance(ttlMs);
  const elsewhere = { ...(await take(store, `${threadId} of another`)), threadId };
  return { released, taken, ranOut, elsewhere };
};
