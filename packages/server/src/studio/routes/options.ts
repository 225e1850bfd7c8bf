import type { Clock, Host, Store } from "@colloquy/host";

/** A configuration for viewing prompts, and for trying turns again. */
export interface StudioConfiguration {
  /** For a person: `the last 3 turns`. */
  readonly name: string;
  /** A host on the studio's store that asks under it; its machine computes prompts. */
  readonly host: Host;
}

/** The options of a studio. */
export interface StudioOptions {
  /** Read without a lease. */
  readonly store: Store;
  readonly clock: Clock;
  /** The first is the studio's own: it counts tokens, has the budget, and receives answers to approvals. */
  readonly configurations: readonly [StudioConfiguration, ...(readonly StudioConfiguration[])];
  /**
   * Models for trying a turn again, as the member `model` of the model parameters. Default: only the configured one.
   */
  readonly models?: readonly string[];
  /** The interval, in milliseconds, at which the store is checked for changes. Default 500. */
  readonly everyMs?: number;
  /** The place of the store, for a person. */
  readonly about: string;
}

/** The files of the page, by their names below `/studio/`. */
export type Assets = ReadonlyMap<string, string>;
