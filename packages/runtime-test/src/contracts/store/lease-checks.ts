import { LeaseLostError } from "@colloquy/host";
import { expect } from "vitest";

import { append, entryOf, take, ttlMs, write } from "./sample-entries.ts";
import type { StoreCheck } from "./subject.ts";

/** Who may append, and for how long. */
export const leaseChecks: readonly StoreCheck[] = [
  {
    name: "gives a free thread to one owner, and to nobody else while the lease is in force",
    check: async ({ store, another }) => {
      const lease = await store.acquire("thread", "first", ttlMs);
      expect(lease).toMatchObject({ threadId: "thread", owner: "first" });
      expect(await store.acquire("thread", "second", ttlMs)).toBeNull();
      expect(await (await another()).acquire("thread", "third", ttlMs)).toBeNull();
    },
  },
  {
    name: "keeps the leases of different threads apart",
    check: async ({ store }) => {
      const one = await take(store, "one", "first");
      const other = await take(store, "other", "second");
      await store.release(one);
      await append(store, other, -1, [entryOf(0)]);
      expect(await store.read("one")).toEqual([]);
    },
  },
  {
    name: "gives a released thread to the next",
    check: async ({ store }) => {
      await store.release(await take(store, "thread", "first"));
      expect(await store.acquire("thread", "second", ttlMs)).not.toBeNull();
    },
  },
  {
    name: "gives a thread to the next when its lease has run out, and not before",
    check: async ({ store, clock }) => {
      await take(store, "thread", "first");
      clock.advance(ttlMs - 1);
      expect(await store.acquire("thread", "second", ttlMs)).toBeNull();
      clock.advance(1);
      expect(await store.acquire("thread", "second", ttlMs)).not.toBeNull();
    },
  },
  {
    name: "gives a holder that asks again a new lease, and voids the old one",
    check: async ({ store }) => {
      const old = await take(store, "thread", "same");
      const lease = await take(store, "thread", "same");
      await expect(append(store, old, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
      await append(store, lease, -1, [entryOf(0)]);
    },
  },
  {
    name: "gives each lease a greater token, whatever became of the one before",
    check: async ({ store, clock, reopen }) => {
      const released = await take(store, "thread", "first");
      await append(store, released, -1, [entryOf(0)]);
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
  },
  {
    name: "prolongs a lease from the moment of renewal",
    check: async ({ store, clock }) => {
      const lease = await take(store, "thread", "first");
      clock.advance(ttlMs - 1);
      expect(await store.renew(lease, ttlMs)).toBe(true);
      clock.advance(ttlMs - 1);
      expect(await store.acquire("thread", "second", ttlMs)).toBeNull();
      await append(store, lease, -1, [entryOf(0)]);
      clock.advance(1);
      expect(await store.acquire("thread", "second", ttlMs)).not.toBeNull();
    },
  },
  {
    name: "does not renew a lease that was taken over or released",
    check: async ({ store, clock }) => {
      const old = await take(store, "thread", "first");
      clock.advance(ttlMs);
      const lease = await take(store, "thread", "second");
      expect(await store.renew(old, ttlMs)).toBe(false);
      await store.release(lease);
      expect(await store.renew(lease, ttlMs)).toBe(false);
      expect(await store.acquire("thread", "third", ttlMs)).not.toBeNull();
    },
  },
  {
    name: "lets a holder append exactly when it says that the lease was renewed, after it ran out untaken",
    check: async ({ store, clock }) => {
      const lease = await take(store, "thread", "first");
      clock.advance(ttlMs);
      const renewed = await store.renew(lease, ttlMs);
      const appended = await append(store, lease, -1, [entryOf(0)]).then(
        () => true,
        () => false,
      );
      expect(appended).toBe(renewed);
    },
  },
  {
    name: "lets nobody give back the lease of another",
    check: async ({ store, clock }) => {
      const old = await take(store, "thread", "first");
      clock.advance(ttlMs);
      const lease = await take(store, "thread", "second");
      await store.release(old);
      expect(await store.acquire("thread", "third", ttlMs)).toBeNull();
      await append(store, lease, -1, [entryOf(0)]);
    },
  },
  {
    name: "takes a time to live of zero at its word, and refuses one that is none",
    check: async ({ store }) => {
      const lease = await store.acquire("thread", "first", 0);
      expect(lease).not.toBeNull();
      expect(await store.acquire("thread", "second", ttlMs)).not.toBeNull();
      await expect(store.acquire("other", "first", Number.NaN)).rejects.toThrow(/NaN/);
      await expect(store.acquire("other", "first", -1)).rejects.toThrow(/-1/);
    },
  },
  {
    name: "makes no thread of a lease alone",
    check: async ({ store }) => {
      await write(store, "written", 1);
      await take(store, "leased");
      expect((await store.list()).threads.map(({ threadId }) => threadId)).toEqual(["written"]);
      expect(await store.delete("leased")).toBe(false);
    },
  },
];
