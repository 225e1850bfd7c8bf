import type { Clock, Store } from "@colloquy/host";

import type { ManualClock } from "./manual-clock.ts";

/** Makes an empty store for one check. */
export type MakeStore = (tools: { readonly clock: Clock }) => Promise<StoreUnderTest>;

export interface StoreUnderTest {
  /** Uses the clock that was passed to `MakeStore`. */
  readonly store: Store;
  /** Closes the store and opens its data again, as after a restart. Absent if the data does not outlive the store. */
  readonly reopen?: () => Promise<Store>;
  /** Opens another store over the same journals, as another process would. Absent if there can only be one. */
  readonly another?: () => Promise<Store>;
}

/** One promise of the port `Store`, and the check that a store keeps it. */
export interface StoreCheck {
  /** The promise, as the end of a sentence that begins with "a store". */
  readonly name: string;
  /** Only for stores that have this feature. */
  readonly feature?: StoreFeature;
  /** Rejects when the promise is broken. */
  readonly check: (subject: Subject) => Promise<void>;
}

/** An optional member of the port, by its name. */
export type StoreFeature = "inbox" | "search" | "parts";

export type StoreChecks = Readonly<Record<string, StoreCheck["check"]>>;

/** The tools of a check. All stores are closed after it. */
export interface Subject {
  readonly store: Store;
  readonly clock: ManualClock;
  /** See `StoreUnderTest`. Returns the same store if that has no `reopen`. */
  readonly reopen: () => Promise<Store>;
  /** See `StoreUnderTest`. Returns the same store if that has no `another`. */
  readonly another: () => Promise<Store>;
  /** Makes another empty store, for checks that need many. */
  readonly fresh: () => Promise<Subject>;
}
