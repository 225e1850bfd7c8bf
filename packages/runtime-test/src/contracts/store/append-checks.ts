import { LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import { expect } from "vitest";

import { append, begun, entriesFrom, entryOf, take, ttlMs } from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

/** Checks of which entries may be appended, and that a refused append leaves no trace. */
export const appendChecks: StoreChecks = {
  "appends one entry or many, and shows them to every reader": async ({ store, another }) => {
    const lease = await begun(store, [entryOf(0)]);
    await append(store, lease, 0, entriesFrom(1, 4));
    await append(store, lease, 4, [entryOf(5)]);
    expect(await store.read("thread")).toEqual(entriesFrom(0, 5));
    expect(await (await another()).read("thread")).toEqual(entriesFrom(0, 5));
  },
  "appends nothing when it is given nothing": async ({ store }) => {
    const lease = await begun(store, []);
    expect((await store.list()).threads).toEqual([]);
    await append(store, lease, -1, [entryOf(0)]);
  },
  "refuses to append where the journal does not stand, and says where it does": async ({ store }) => {
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
  "appends all of a batch or nothing, and refuses entries out of order": async ({ store }) => {
    const lease = await begun(store, [entryOf(0)]);
    await expect(append(store, lease, 0, [entryOf(1), entryOf(3)])).rejects.toBeInstanceOf(RangeError);
    await expect(append(store, lease, 0, [entryOf(1), entryOf(1)])).rejects.toBeInstanceOf(RangeError);
    await expect(append(store, lease, 0, [entryOf(2)])).rejects.toBeInstanceOf(RangeError);
    expect(await store.read("thread")).toEqual([entryOf(0)]);
    await append(store, lease, 0, [entryOf(1)]);
  },
  "appends nothing under a lease that was released": async ({ store }) => {
    const lease = await take(store, "thread");
    await store.release(lease);
    await expect(append(store, lease, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
    expect(await store.read("thread")).toEqual([]);
  },
  "appends nothing under a lease that ran out, though nobody took it": async ({ store, clock }) => {
    const lease = await take(store, "thread");
    clock.advance(ttlMs - 1);
    await append(store, lease, -1, [entryOf(0)]);
    clock.advance(1);
    await expect(append(store, lease, 0, [entryOf(1)])).rejects.toBeInstanceOf(LeaseLostError);
    expect(await store.read("thread")).toEqual([entryOf(0)]);
  },
  "appends nothing for an owner that slept while another took over": async ({ store, clock, another }) => {
    const asleep = await begun(store, [entryOf(0)], "first");
    clock.advance(ttlMs);
    const other = await another();
    const awake = await take(other, "thread", "second");
    const late = append(store, asleep, 0, [entryOf(1, { from: "first" })]);
    await expect(late).rejects.toBeInstanceOf(LeaseLostError);
    await expect(late).rejects.toMatchObject({ threadId: "thread" });
    await append(other, awake, 0, [entryOf(1, { from: "second" })]);
    expect(await store.read("thread")).toEqual([entryOf(0), entryOf(1, { from: "second" })]);
  },
  "appends nothing under a lease of another thread, or one that it never gave": async ({ store }) => {
    const lease = await take(store, "thread");
    const lent = { ...lease, threadId: "other" };
    const forged = { ...lease, token: lease.token + 1 };
    await expect(append(store, lent, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
    await expect(append(store, forged, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
    expect((await store.list()).threads).toEqual([]);
  },
};
