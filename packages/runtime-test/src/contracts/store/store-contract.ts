import { afterEach, describe, it } from "vitest";

import { manualClock } from "./manual-clock.ts";
import { appendChecks } from "./append-checks.ts";
import { concurrencyChecks } from "./concurrency-checks.ts";
import { idChecks } from "./id-checks.ts";
import { inboxChecks } from "./inbox-checks.ts";
import { leaseChecks } from "./lease-checks.ts";
import { listingChecks } from "./listing-checks.ts";
import { partsChecks } from "./parts-checks.ts";
import { readingChecks } from "./reading-checks.ts";
import { rewriteChecks } from "./rewrite-checks.ts";
import { searchChecks } from "./search-checks.ts";
import { snapshotChecks } from "./snapshot-checks.ts";
import type { MakeStore, StoreCheck, StoreFeature, Subject } from "./subject.ts";
import { valueChecks } from "./value-checks.ts";

/**
 * The contract of the port `Store`, as checks that any store passes. A check with a `feature` applies only to stores
 * that have it.
 */
export const storeChecks: readonly StoreCheck[] = [
  ...Object.entries({
    ...leaseChecks,
    ...appendChecks,
    ...readingChecks,
    ...valueChecks,
    ...idChecks,
    ...concurrencyChecks,
    ...listingChecks,
    ...rewriteChecks,
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
