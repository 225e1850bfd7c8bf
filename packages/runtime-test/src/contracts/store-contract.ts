import { afterEach, describe, it } from "vitest";

import { manualClock } from "./manual-clock.ts";
import { appendChecks } from "./store/append-checks.ts";
import { concurrencyChecks } from "./store/concurrency-checks.ts";
import { idChecks } from "./store/id-checks.ts";
import { leaseChecks } from "./store/lease-checks.ts";
import { readingChecks } from "./store/reading-checks.ts";
import type { MakeStore, StoreCheck, Subject } from "./store/subject.ts";
import { valueChecks } from "./store/value-checks.ts";

/** All that the port `Store` promises, as checks that any store passes. */
export const storeChecks: readonly StoreCheck[] = [
  ...leaseChecks,
  ...appendChecks,
  ...readingChecks,
  ...valueChecks,
  ...idChecks,
  ...concurrencyChecks,
];

/**
 * Registers a vitest suite that holds a store to the port's promises. Each test gets a store of its own.
 *
 * ```ts
 * storeContract("my store", async ({ clock }) => ({ store: myStore({ clock }) }));
 * ```
 */
export const storeContract = (name: string, makeStore: MakeStore): void => {
  describe(`${name} keeps the store contract: a store`, () => {
    const closers: (() => Promise<void>)[] = [];
    afterEach(async () => {
      for (const close of closers.splice(0)) await close();
    });
    it.each(storeChecks)("$name", async ({ check }) => {
      await check(await subjectOf(makeStore, (close) => closers.push(close)));
    });
  });
};

/** A subject for one check. `onOpen` is told how to close each store that is opened. */
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
