import { LeaseLostError, SequenceConflictError } from "@colloquy/host";
import { expect } from "vitest";

import { append, entriesFrom, entryOf, take, ttlMs } from "./sample-entries.ts";
import type { StoreCheck } from "./subject.ts";

/** What may be appended, and that the rest leaves no trace. */
export const appendChecks: readonly StoreCheck[] = [
  {
    name: "appends one entry or many, and shows them to every reader",
    check: async ({ store, another }) => {
      const lease = await take(store, "thread");
      await append(store, lease, -1, [entryOf(0)]);
      await append(store, lease, 0, entriesFrom(1, 4));
      await append(store, lease, 4, [entryOf(5)]);
      expect(await store.read("thread")).toEqual(entriesFrom(0, 5));
      expect(await (await another()).read("thread")).toEqual(entriesFrom(0, 5));
    },
  },
  {
    name: "appends nothing when it is given nothing",
    check: async ({ store }) => {
      const lease = await take(store, "thread");
      await append(store, lease, -1, []);
      expect((await store.list()).threads).toEqual([]);
      await append(store, lease, -1, [entryOf(0)]);
    },
  },
  {
    name: "refuses to append where the journal does not stand, and says where it does",
    check: async ({ store }) => {
      const lease = await take(store, "thread");
      await expect(append(store, lease, 0, [entryOf(1)])).rejects.toBeInstanceOf(SequenceConflictError);
      await append(store, lease, -1, entriesFrom(0, 2));
      const conflict = append(store, lease, 0, [entryOf(1)]);
      await expect(conflict).rejects.toBeInstanceOf(SequenceConflictError);
      await expect(conflict).rejects.toMatchObject({ threadId: "thread", expectedSeq: 0, actualSeq: 2 });
      await expect(append(store, lease, -1, [entryOf(0)])).rejects.toBeInstanceOf(SequenceConflictError);
      await expect(append(store, lease, 7, [entryOf(8)])).rejects.toBeInstanceOf(SequenceConflictError);
      expect(await store.read("thread")).toEqual(entriesFrom(0, 2));
    },
  },
  {
    name: "appends all of a batch or nothing, and refuses entries out of order",
    check: async ({ store }) => {
      const lease = await take(store, "thread");
      await append(store, lease, -1, [entryOf(0)]);
      await expect(append(store, lease, 0, [entryOf(1), entryOf(3)])).rejects.toBeInstanceOf(RangeError);
      await expect(append(store, lease, 0, [entryOf(1), entryOf(1)])).rejects.toBeInstanceOf(RangeError);
      await expect(append(store, lease, 0, [entryOf(2)])).rejects.toBeInstanceOf(RangeError);
      expect(await store.read("thread")).toEqual([entryOf(0)]);
      await append(store, lease, 0, [entryOf(1)]);
    },
  },
  {
    name: "appends nothing under a lease that was released",
    check: async ({ store }) => {
      const lease = await take(store, "thread");
      await store.release(lease);
      await expect(append(store, lease, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
      expect(await store.read("thread")).toEqual([]);
    },
  },
  {
    name: "appends nothing under a lease that ran out, though nobody took it",
    check: async ({ store, clock }) => {
      const lease = await take(store, "thread");
      clock.advance(ttlMs - 1);
      await append(store, lease, -1, [entryOf(0)]);
      clock.advance(1);
      await expect(append(store, lease, 0, [entryOf(1)])).rejects.toBeInstanceOf(LeaseLostError);
      expect(await store.read("thread")).toEqual([entryOf(0)]);
    },
  },
  {
    name: "appends nothing for a holder that slept while another took over, though the seq is right",
    check: async ({ store, clock, another }) => {
      const asleep = await take(store, "thread", "first");
      await append(store, asleep, -1, [entryOf(0)]);
      clock.advance(ttlMs);
      const other = await another();
      const awake = await take(other, "thread", "second");
      const late = append(store, asleep, 0, [entryOf(1, { from: "first" })]);
      await expect(late).rejects.toBeInstanceOf(LeaseLostError);
      await expect(late).rejects.toMatchObject({ threadId: "thread" });
      await append(other, awake, 0, [entryOf(1, { from: "second" })]);
      expect(await store.read("thread")).toEqual([entryOf(0), entryOf(1, { from: "second" })]);
    },
  },
  {
    name: "appends nothing under a lease of another thread, or one that it never gave",
    check: async ({ store }) => {
      const lease = await take(store, "thread");
      const lent = { ...lease, threadId: "other" };
      const forged = { ...lease, token: lease.token + 1 };
      await expect(append(store, lent, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
      await expect(append(store, forged, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
      expect((await store.list()).threads).toEqual([]);
    },
  },
];
