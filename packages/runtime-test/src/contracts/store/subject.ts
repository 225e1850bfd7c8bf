import type { Clock, Store } from "@colloquy/host";

import type { ManualClock } from "./manual-clock.ts";

/** Makes an empty store for one check. */
export type MakeStore = (tools: { readonly clock: Clock }) => Promise<StoreUnderTest>;

export interface StoreUnderTest {
  /** Takes the time from the clock that was handed in. */
  readonly store: Store;
  /** Closes the store and opens what it left behind, as after a restart. Absent when nothing outlives the store. */
  readonly reopen?: () => Promise<Store>;
  /** Another store over the same journals, as another process has one. Absent when there can only be one. */
  readonly another?: () => Promise<Store>;
}

/** One promise of the port `Store`, and how to see whether a store keeps it. */
export interface StoreCheck {
  /** The promise, as the end of a sentence that begins with "a store". */
  readonly name: string;
  /** Only for stores that have it. */
  readonly feature?: StoreFeature;
  /** Rejects when the promise is broken. */
  readonly check: (subject: Subject) => Promise<void>;
}

/** What the port leaves to the store, by the name of the member. */
export type StoreFeature = "inbox" | "search" | "parts";

/** Checks by the promises that they look at. */
export type StoreChecks = Readonly<Record<string, StoreCheck["check"]>>;

/** What a check works with. All stores are closed after it. */
export interface Subject {
  readonly store: Store;
  readonly clock: ManualClock;
  /** See `StoreUnderTest`. Without a `reopen` the store itself. */
  readonly reopen: () => Promise<Store>;
  /** See `StoreUnderTest`. Without an `another` the store itself. */
  readonly another: () => Promise<Store>;
  /** One more empty store, for checks that need many. */
  readonly fresh: () => Promise<Subject>;
}
