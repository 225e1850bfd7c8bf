import "fake-indexeddb/auto";

import { manualClock } from "@colloquy/runtime-test/contracts";
import * as fc from "fast-check";
import { describe, expect, test, vi } from "vitest";

import { type Lease, LeaseLostError } from "@colloquy/host/store";
import { indexedDbStore, type IndexedDbStore, type TabLockManager } from "../src/index.ts";
import { entry } from "./entries.ts";
import { runs } from "../../../test/runs.ts";

let databases = 0;

/** Makes two tabs over one database. `die` takes the lock of the first, as when the browser closes a tab. */
const twoTabs = (): {
  readonly clock: ReturnType<typeof manualClock>;
  readonly first: IndexedDbStore;
  readonly second: IndexedDbStore;
  readonly die: () => void;
} => {
  databases += 1;
  const name = `tabs-${databases}`;
  const clock = manualClock();
  const gone = Promise.withResolvers<void>();
  const dying: TabLockManager = {
    request: (lock, options, callback) =>
      navigator.locks.request(lock, options, async (granted) =>
        Promise.race([callback(granted), gone.promise]),
      ) as never,
  };
  return {
    clock,
    first: indexedDbStore({ name, clock, locks: dying }),
    second: indexedDbStore({ name, clock }),
    die: gone.resolve,
  };
};

const ttlMs = 300_000;

test("a lease counts while its tab lives", async () => {
  const { first, second } = twoTabs();
  expect(await first.acquire("t", "one", ttlMs)).not.toBeNull();
  expect(await second.acquire("t", "two", ttlMs)).toBeNull();
});

test("the lease of a tab that is gone is free at once, and the fence keeps that tab out", async () => {
  const { first, second, die } = twoTabs();
  const lease = await first.acquire("t", "one", ttlMs);
  if (lease === null) throw new Error("the thread is free");
  die();
  await expect.poll(() => second.acquire("t", "two", ttlMs)).not.toBeNull();
  await expect(first.append(lease, -1, [entry(0)])).rejects.toThrow(LeaseLostError);
  expect(await first.renew(lease, ttlMs)).toBe(false);
  expect(await second.read("t")).toEqual([]);
});

test("a tab that stalls past its lease loses it, although it has its lock", async () => {
  const { clock, first, second } = twoTabs();
  const lease = await first.acquire("t", "one", ttlMs);
  if (lease === null) throw new Error("the thread is free");
  clock.advance(ttlMs);
  expect(await second.acquire("t", "two", ttlMs)).not.toBeNull();
  await expect(first.append(lease, -1, [entry(0)])).rejects.toThrow(LeaseLostError);
});

test("concurrent checks of a living tab all find it alive", async () => {
  const { first, second } = twoTabs();
  await first.acquire("t", "one", ttlMs);
  const owners = Array.from({ length: 20 }, (_, index) => `other-${index}`);
  const leases = await Promise.all(owners.map((owner) => second.acquire("t", owner, ttlMs)));
  expect(leases.filter((lease) => lease !== null)).toEqual([]);
});

test("of many requests for the thread of a dead tab exactly one gets it", async () => {
  const { first, second, die } = twoTabs();
  await first.acquire("t", "one", ttlMs);
  await first.acquire("u", "one", ttlMs);
  die();
  await expect.poll(() => second.acquire("u", "two", ttlMs)).not.toBeNull();
  const owners = Array.from({ length: 20 }, (_, index) => `other-${index}`);
  const leases = await Promise.all(owners.map((owner) => second.acquire("t", owner, ttlMs)));
  expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
});

/** Checks that a tab of the newest database holds its lock. */
const isLocked = async (): Promise<boolean> =>
  ((await navigator.locks.query()).held ?? []).some(({ name }) => name?.startsWith(`colloquy:tabs-${databases}:`));

const leaseOf = async (store: IndexedDbStore, threadId: string, owner: string): Promise<Lease> => {
  const lease = await store.acquire(threadId, owner, ttlMs);
  if (lease === null) throw new Error(`the thread ${threadId} is free`);
  return lease;
};

describe("a tab holds its lock only while it has a lease: it releases it", () => {
  test("with the last lease that it gives back", async () => {
    const { first } = twoTabs();
    const [one, other] = [await leaseOf(first, "t", "one"), await leaseOf(first, "u", "one")];
    expect(await isLocked()).toBe(true);
    await first.release(one);
    expect(await isLocked()).toBe(true);
    await first.release(other);
    await expect.poll(isLocked).toBe(false);
  });

  test("when it deletes the thread", async () => {
    const { first } = twoTabs();
    const lease = await leaseOf(first, "t", "one");
    await first.append(lease, -1, [entry(0)]);
    await first.delete("t");
    await expect.poll(isLocked).toBe(false);
    await first.release(lease);
    expect(await isLocked()).toBe(false);
  });

  test.each<readonly [string, (store: IndexedDbStore, lease: Lease) => Promise<unknown>]>([
    ["renew its lease", (store, lease) => store.renew(lease, ttlMs)],
    ["append", async (store, lease) => store.append(lease, -1, [entry(0)])],
    ["give its lease back", (store, lease) => store.release(lease)],
    ["acquire the thread again", (store) => store.acquire("t", "one", ttlMs)],
  ])("when another tab has deleted the thread, which it learns as it goes to %s", async (_, learn) => {
    const { first, second } = twoTabs();
    const lease = await leaseOf(first, "t", "one");
    await second.delete("t");
    const taken = await leaseOf(second, "t", "two");
    const learnt = await learn(first, lease).catch((error: unknown) => error);
    expect([false, null, undefined, new LeaseLostError(lease)]).toContainEqual(learnt);
    await second.release(taken);
    await expect.poll(isLocked).toBe(false);
  });

  test("when another tab has taken the thread after its time", async () => {
    const { clock, first, second } = twoTabs();
    const lease = await leaseOf(first, "t", "one");
    clock.advance(ttlMs);
    const taken = await leaseOf(second, "t", "two");
    expect(await first.renew(lease, ttlMs)).toBe(false);
    await second.release(taken);
    await expect.poll(isLocked).toBe(false);
  });

  test("when the release of the lease failed: then it is free at once, too", async () => {
    const { first, second } = twoTabs();
    const lease = await leaseOf(first, "t", "one");
    const remove = vi.spyOn(IDBObjectStore.prototype, "delete").mockImplementation(() => {
      throw new DOMException("the disk", "UnknownError");
    });
    await expect(first.release(lease)).rejects.toMatchObject({ kind: "io" });
    remove.mockRestore();
    await expect.poll(() => second.acquire("t", "two", ttlMs)).not.toBeNull();
  });

  test("when another host has the requested thread", async () => {
    const { first, second } = twoTabs();
    const lease = await leaseOf(first, "t", "one");
    expect(await second.acquire("t", "two", ttlMs)).toBeNull();
    await first.release(lease);
    await expect.poll(isLocked).toBe(false);
  });

  test("not when the lease is only over, and may be renewed", async () => {
    const { clock, first, second } = twoTabs();
    const lease = await leaseOf(first, "t", "one");
    clock.advance(ttlMs);
    await expect(first.append(lease, -1, [entry(0)])).rejects.toThrow(LeaseLostError);
    expect(await first.renew(lease, ttlMs)).toBe(true);
    expect(await second.acquire("t", "two", ttlMs)).toBeNull();
  });
});

describe("two hosts of one tab", () => {
  test("share its lock, and each releases only its own lease", async () => {
    const { first, second } = twoTabs();
    const lease = await leaseOf(first, "t", "one");
    expect(await first.acquire("t", "other", ttlMs)).toBeNull();
    expect(await second.acquire("t", "two", ttlMs)).toBeNull();
    await first.release(lease);
    await leaseOf(first, "t", "other");
    await first.release(lease);
    expect(await second.acquire("t", "two", ttlMs)).toBeNull();
  });

  test("keep it while one gives the thread back and the other takes it, in whatever order", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ who: fc.constantFrom("one", "other"), ahead: fc.boolean() }), { maxLength: 6 }),
        async (steps) => {
          const { first, second } = twoTabs();
          let lease = await leaseOf(first, "t", "one");
          for (const { who, ahead } of steps) {
            const old = lease;
            const [, taken] = ahead
              ? (await Promise.all([first.acquire("t", who, ttlMs), first.release(old)])).toReversed()
              : await Promise.all([first.release(old), first.acquire("t", who, ttlMs)]);
            lease = taken ?? (await leaseOf(first, "t", who));
            // No living tab has a lease of it.
            expect(await second.acquire("t", "two", ttlMs)).toBeNull();
          }
          await first.release(lease);
          await expect.poll(isLocked).toBe(false);
        },
      ),
      { numRuns: runs(30) },
    );
  });
});

test("a closed store leaves its threads free at once", async () => {
  const { first, second } = twoTabs();
  await first.acquire("t", "one", ttlMs);
  await first.close();
  await expect.poll(() => second.acquire("t", "two", ttlMs)).not.toBeNull();
});

test("if the platform refuses locks, leases end only by time", async () => {
  databases += 1;
  const refusing: TabLockManager = { request: () => Promise.reject(new DOMException("no origin", "SecurityError")) };
  const clock = manualClock();
  const stores = ["a", "b"].map(() => indexedDbStore({ name: `tabs-${databases}`, clock, locks: refusing }));
  expect(await stores[0]?.acquire("t", "one", ttlMs)).not.toBeNull();
  expect(await stores[1]?.acquire("t", "two", ttlMs)).toBeNull();
  clock.advance(ttlMs);
  expect(await stores[1]?.acquire("t", "two", ttlMs)).not.toBeNull();
});
