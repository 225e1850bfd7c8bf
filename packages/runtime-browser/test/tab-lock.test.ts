import "fake-indexeddb/auto";

import { manualClock } from "@colloquy/runtime-test/contracts";
import { expect, test } from "vitest";

import { LeaseLostError } from "@colloquy/host/store";
import { indexedDbStore, type IndexedDbStore, type TabLockManager } from "../src/index.ts";
import { entry } from "./entries.ts";

let databases = 0;

/** Two tabs over one database. `die` takes the lock of the first away, as the browser does when a tab is closed: nothing else happens there. */
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

test("a tab that stands still for longer than its lease loses it, though it has its lock", async () => {
  const { clock, first, second } = twoTabs();
  const lease = await first.acquire("t", "one", ttlMs);
  if (lease === null) throw new Error("the thread is free");
  clock.advance(ttlMs);
  expect(await second.acquire("t", "two", ttlMs)).not.toBeNull();
  await expect(first.append(lease, -1, [entry(0)])).rejects.toThrow(LeaseLostError);
});

test("a tab that is asked for at once by many is found alive by all of them", async () => {
  const { first, second } = twoTabs();
  await first.acquire("t", "one", ttlMs);
  const owners = Array.from({ length: 20 }, (_, index) => `other-${index}`);
  const leases = await Promise.all(owners.map((owner) => second.acquire("t", owner, ttlMs)));
  expect(leases.filter((lease) => lease !== null)).toEqual([]);
});

test("of many who ask for the thread of a tab that is gone exactly one gets it", async () => {
  const { first, second, die } = twoTabs();
  await first.acquire("t", "one", ttlMs);
  await first.acquire("u", "one", ttlMs);
  die();
  await expect.poll(() => second.acquire("u", "two", ttlMs)).not.toBeNull();
  const owners = Array.from({ length: 20 }, (_, index) => `other-${index}`);
  const leases = await Promise.all(owners.map((owner) => second.acquire("t", owner, ttlMs)));
  expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
});

test("a tab holds its lock only while it has a lease", async () => {
  const { first } = twoTabs();
  const name = `colloquy:tabs-${databases}:`;
  const held = async (): Promise<number> =>
    ((await navigator.locks.query()).held ?? []).filter((lock) => lock.name?.startsWith(name)).length;
  const one = await first.acquire("t", "one", ttlMs);
  const other = await first.acquire("u", "one", ttlMs);
  if (one === null || other === null) throw new Error("the threads are free");
  expect(await held()).toBe(1);
  await first.release(one);
  expect(await held()).toBe(1);
  await first.release(other);
  await expect.poll(held).toBe(0);
});

test("a closed store leaves its threads free at once", async () => {
  const { first, second } = twoTabs();
  await first.acquire("t", "one", ttlMs);
  await first.close();
  await expect.poll(() => second.acquire("t", "two", ttlMs)).not.toBeNull();
});

test("where the platform refuses locks, leases run by their time alone", async () => {
  databases += 1;
  const refusing: TabLockManager = { request: () => Promise.reject(new DOMException("no origin", "SecurityError")) };
  const clock = manualClock();
  const stores = ["a", "b"].map(() => indexedDbStore({ name: `tabs-${databases}`, clock, locks: refusing }));
  expect(await stores[0]?.acquire("t", "one", ttlMs)).not.toBeNull();
  expect(await stores[1]?.acquire("t", "two", ttlMs)).toBeNull();
  clock.advance(ttlMs);
  expect(await stores[1]?.acquire("t", "two", ttlMs)).not.toBeNull();
});
