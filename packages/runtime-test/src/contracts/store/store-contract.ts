import { afterEach, describe, it, expect } from "vitest";
import { manualClock } from "./manual-clock.ts";
import { leaseChecks } from "./lease-checks.ts";
import { valueChecks } from "./value-checks.ts";
import { inboxChecks } from "./inbox-checks.ts";
import { listingChecks } from "./listing-checks.ts";
import { partsChecks } from "./parts-checks.ts";
import { snapshotChecks } from "./snapshot-checks.ts";
import { searchChecks } from "./search-checks.ts";
import type { MakeStore, StoreCheck, StoreFeature, Subject, StoreChecks } from "./subject.ts";
import { LeaseLostError } from "@colloquy/host/store";
import { append, begun, entriesFrom, entryOf, take, write } from "./sample-entries.ts";

const readingChecks: StoreChecks = {
  "reads from a seq on, in order": async ({ store }) => {
    await write(store, "thread", 12);
    expect(await store.read("thread", 0)).toEqual(entriesFrom(0, 11));
    expect(await store.read("thread", 9)).toEqual(entriesFrom(9, 11));
    expect(await store.read("thread", 11)).toEqual([entryOf(11)]);
    expect(await store.read("thread", 12)).toEqual([]);
  },
  "finds nothing in a thread that is not there": async ({ store }) => {
    expect(await store.read("thread")).toEqual([]);
    expect(await store.read("thread", 3)).toEqual([]);
    expect(await store.delete("thread")).toBe(false);
    expect(await store.list()).toEqual({ threads: [], next: null });
  },
  "deletes a thread, and no other": async ({ store, reopen }) => {
    const others = ["a", "abc", "a%", "a_", "A"];
    for (const threadId of ["ab", ...others]) await write(store, threadId, 3);
    expect(await store.delete("ab")).toBe(true);
    expect(await store.delete("ab")).toBe(false);
    const later = await reopen();
    expect(await later.read("ab")).toEqual([]);
    expect(await later.read("ab", 2)).toEqual([]);
    const { threads } = await later.list();
    expect(threads.map(({ threadId }) => threadId).sort()).toEqual([...others].sort());
    for (const threadId of others) expect(await later.read(threadId)).toEqual(entriesFrom(0, 2));
  },
  "lets no holder of an old lease bring back a deleted thread": async ({ store }) => {
    const old = await begun(store, entriesFrom(0, 2), "first");
    await store.delete("thread");
    await expect(append(store, old, 2, [entryOf(3)])).rejects.toBeInstanceOf(LeaseLostError);
    await expect(append(store, old, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
    expect(await store.renew(old, 1000)).toBe(false);
    const lease = await take(store, "thread", "second");
    await expect(append(store, old, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
    await append(store, lease, -1, [entryOf(0, { again: true })]);
    expect(await store.read("thread")).toEqual([entryOf(0, { again: true })]);
  },
  "keeps journals when it is closed, and may be closed twice": async ({ store, reopen }) => {
    await write(store, "thread", 3);
    const later = await reopen();
    expect(await later.read("thread")).toEqual(entriesFrom(0, 2));
    await later.close();
    await later.close();
  },
};

/**
 * The contract of the port `Store`, as checks that any store passes. A check with a `feature` applies only to stores
 * that have it.
 */
export const storeChecks: readonly StoreCheck[] = [
  ...Object.entries({
    ...leaseChecks,
    ...readingChecks,
    ...valueChecks,
    ...listingChecks,
    ...snapshotChecks,
  }).map(([name, check]) => ({ name, check })),
  ...Object.entries(inboxChecks).map(([name, check]) => ({ name, check, feature: "inbox" as const })),
  ...Object.entries(partsChecks).map(([name, check]) => ({ name, check, feature: "parts" as const })),
  ...Object.entries(searchChecks).map(([name, check]) => ({ name, check, feature: "search" as const })),
];

export interface StoreContractOptions {
  /**
   * The optional members of the port that the store must have. Members that it has are checked in any case; checks of
   * missing members are skipped. Default: none.
   */
  readonly features?: readonly StoreFeature[];
}

/**
 * Registers a vitest suite that checks a store against the port's contract. Each test gets its own store.
 *
 * ```ts
 * storeContract("my store", async ({ clock }) => ({ store: myStore({ clock }) }), { features: ["inbox"] });
 * ```
 */
export const storeContract = (name: string, makeStore: MakeStore, options: StoreContractOptions = {}): void => {
  const { features = [] } = options;
  describe(`${name} keeps the store contract: a store`, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });
    it.for(storeChecks)("$name", async ({ feature, check }, { skip }) => {
      const subject = await subjectOf(makeStore, (close) => closers.push(close));
      if (feature !== undefined && subject.store[feature] === undefined) {
        if (features.includes(feature)) throw new Error(`the store has no ${feature}, and is expected to have it`);
        skip(`the store has no ${feature}`);
      }
      await check(subject);
    });
  });
};

/** Makes the subject of one check. `onOpen` receives the function that closes each opened store. */
export const subjectOf = async (
  makeStore: MakeStore,
  onOpen: (close: () => Promise<void>) => void,
): Promise<Subject> => {
  const clock = manualClock();
  const { store, reopen, another } = await makeStore({ clock });
  const opening = (open: (() => Promise<Subject["store"]>) | undefined) => async (): Promise<Subject["store"]> => {
    const opened = (await open?.()) ?? store;
    onOpen(() => opened.close());
    return opened;
  };
  onOpen(() => store.close());
  return {
    store,
    clock,
    reopen: opening(reopen),
    another: opening(another),
    fresh: () => subjectOf(makeStore, onOpen),
  };
};
