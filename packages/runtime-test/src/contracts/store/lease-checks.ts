import { type Lease, LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { expect } from "vitest";
import { append, begun, entryOf, lostLeases, take, ttlMs, write, entriesFrom } from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

export const leaseChecks: StoreChecks = {
  "gives a free thread to one owner, and to nobody else while the lease is in force": async ({ store, another }) => {
    const lease = await store.acquire("thread", "first", ttlMs);
    expect(lease).toMatchObject({ threadId: "thread", owner: "first" });
    expect(await store.acquire("thread", "second", ttlMs)).toBeNull();
    expect(await (await another()).acquire("thread", "third", ttlMs)).toBeNull();
  },
  "keeps the leases of different threads apart": async ({ store }) => {
    const one = await take(store, "one", "first");
    const other = await take(store, "other", "second");
    await store.release(one);
    await append(store, other, -1, [entryOf(0)]);
    expect(await store.read("one")).toEqual([]);
  },
  "gives a released thread to the next": async ({ store }) => {
    await store.release(await take(store, "thread", "first"));
    expect(await store.acquire("thread", "second", ttlMs)).not.toBeNull();
  },
  "gives a thread to the next when its lease has run out, and not before": async ({ store, clock }) => {
    await take(store, "thread", "first");
    clock.advance(ttlMs - 1);
    expect(await store.acquire("thread", "second", ttlMs)).toBeNull();
    clock.advance(1);
    expect(await store.acquire("thread", "second", ttlMs)).not.toBeNull();
  },
  "gives an owner that asks again a new lease, and voids the old one": async ({ store }) => {
    const old = await take(store, "thread", "same");
    const lease = await take(store, "thread", "same");
    await expect(append(store, old, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
    await append(store, lease, -1, [entryOf(0)]);
  },
  "gives each lease a greater token, whatever became of the one before": async ({ store, clock, reopen }) => {
    const released = await begun(store, [entryOf(0)], "first");
    await store.release(released);
    const ranOut = await take(store, "thread", "second");
    clock.advance(ttlMs);
    const deleted = await take(store, "thread", "third");
    await store.delete("thread");
    const held = await take(store, "thread", "fourth");
    const newest = await take(await reopen(), "thread", "fourth");
    const tokens = [released, ranOut, deleted, held, newest].map(({ token }) => token);
    expect(tokens).toEqual([...new Set(tokens)].sort((one, other) => one - other));
  },
  "prolongs a lease from the moment of renewal": async ({ store, clock }) => {
    const lease = await take(store, "thread", "first");
    clock.advance(ttlMs - 1);
    expect(await store.renew(lease, ttlMs)).toBe(true);
    clock.advance(ttlMs - 1);
    expect(await store.acquire("thread", "second", ttlMs)).toBeNull();
    await append(store, lease, -1, [entryOf(0)]);
    clock.advance(1);
    expect(await store.acquire("thread", "second", ttlMs)).not.toBeNull();
  },
  "does not renew a lease that was taken over or released": async ({ store, clock }) => {
    const old = await take(store, "thread", "first");
    clock.advance(ttlMs);
    const lease = await take(store, "thread", "second");
    expect(await store.renew(old, ttlMs)).toBe(false);
    await store.release(lease);
    expect(await store.renew(lease, ttlMs)).toBe(false);
    expect(await store.acquire("thread", "third", ttlMs)).not.toBeNull();
  },
  "appends under a lease that ran out untaken exactly when it says that it was renewed": async ({ store, clock }) => {
    const lease = await take(store, "thread", "first");
    clock.advance(ttlMs);
    const renewed = await store.renew(lease, ttlMs);
    const appended = await append(store, lease, -1, [entryOf(0)]).then(
      () => true,
      () => false,
    );
    expect(appended).toBe(renewed);
  },
  "lets nobody give back the lease of another": async ({ store, clock }) => {
    const old = await take(store, "thread", "first");
    clock.advance(ttlMs);
    const lease = await take(store, "thread", "second");
    await store.release(old);
    expect(await store.acquire("thread", "third", ttlMs)).toBeNull();
    await append(store, lease, -1, [entryOf(0)]);
  },
  "voids the lease of a store that was closed when another takes the thread, and not before": async (subject) => {
    const old = await take(subject.store, "thread", "first");
    const another = await subject.another();
    const reopened = await subject.reopen();
    // Only one store at a time: the closed one gives no lease any more.
    const other = another === subject.store ? reopened : another;
    const lease = await other.acquire("thread", "second", ttlMs);
    // A store that knows who lives gives the thread away at once.
    if (lease === null) return append(reopened, old, -1, [entryOf(0)]);
    expect(lease.token > old.token).toBe(true);
    await expect(append(reopened, old, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
    await append(other, lease, -1, [entryOf(0)]);
  },
  "names the threads whose lease ran out and was not given back": async ({ store, clock, another, reopen }) => {
    const abandoned = async (of: Store): Promise<readonly string[]> => [...(await of.abandoned())].sort();
    expect(await abandoned(store)).toEqual([]);
    const threads = ["cut short", "deleted", "it's é", "prolonged", "released", "taken over"];
    const leases: Lease[] = [];
    for (const threadId of threads) {
      const lease = await take(store, threadId, "first");
      await append(store, lease, -1, [entryOf(0)]);
      leases.push(lease);
    }
    const [cutShort, , , prolonged, released, takenOver] = leases as [Lease, Lease, Lease, Lease, Lease, Lease];
    await store.release(released);
    expect(await abandoned(store)).toEqual([]);
    expect(await store.renew(cutShort, 0)).toBe(true);
    expect(await abandoned(store)).toEqual(["cut short"]);
    clock.advance(1);
    expect(await store.renew(prolonged, ttlMs)).toBe(true);
    clock.advance(ttlMs - 1);
    await store.delete("deleted");
    await take(store, "taken over", "second");
    await store.release(takenOver);
    for (const each of [store, await another()]) expect(await abandoned(each)).toEqual(["cut short", "it's é"]);
    await store.release(await take(store, "cut short", "second"));
    expect(await abandoned(store)).toEqual(["it's é"]);
    clock.advance(ttlMs);
    expect(await abandoned(await reopen())).toEqual(["it's é", "prolonged", "taken over"]);
  },
  "takes a time to live of zero at its word, and refuses one that is none": async ({ store }) => {
    const lease = await store.acquire("thread", "first", 0);
    expect(lease).not.toBeNull();
    expect(await store.acquire("thread", "second", ttlMs)).not.toBeNull();
    await expect(store.acquire("other", "first", Number.NaN)).rejects.toThrow(/NaN/);
    await expect(store.acquire("other", "first", -1)).rejects.toThrow(/-1/);
    const held = await take(store, "held", "first");
    await expect(store.renew(held, Number.NaN)).rejects.toThrow(/NaN/);
    await expect(store.renew(held, -1)).rejects.toThrow(/-1/);
    expect(await store.acquire("held", "second", ttlMs)).toBeNull();
  },
  "deletes under a lease only while that is in force": async (subject) => {
    const { store } = subject;
    await write(store, "thread", 2);
    const lost = await lostLeases(subject, "thread");
    for (const lease of Object.values(lost))
      await expect(store.delete("thread", lease)).rejects.toBeInstanceOf(LeaseLostError);
    const lease = await take(store, "thread");
    for (const old of Object.values(lost))
      await expect(store.delete("thread", old)).rejects.toBeInstanceOf(LeaseLostError);
    await append(store, lease, 1, [entryOf(2)]);
    expect(await store.read("thread")).toHaveLength(3);
    expect(await store.delete("thread", lease)).toBe(true);
    expect(await store.read("thread")).toEqual([]);
    await expect(store.delete("thread", lease)).rejects.toBeInstanceOf(LeaseLostError);
    expect(await store.acquire("thread", "next", ttlMs)).not.toBeNull();
  },
  "makes no thread of a lease alone": async ({ store }) => {
    await write(store, "written", 1);
    await take(store, "leased");
    expect((await store.list()).threads.map(({ threadId }) => threadId)).toEqual(["written"]);
    expect(await store.delete("leased")).toBe(false);
  },
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
