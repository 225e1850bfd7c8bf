import type { Clock, Host, Store } from "@colloquy/host";

/** A configuration under which prompts can be looked at, and turns tried again. */
export interface StudioConfiguration {
  /** For a person: `the last 3 turns`. */
  readonly name: string;
  /** What asks under it, on the studio's store; its machine says what a prompt would show. */
  readonly host: Host;
}

/** What a studio shows, and what it can do. */
export interface StudioOptions {
  /** Read without a lease. */
  readonly store: Store;
  readonly clock: Clock;
  /** The first is the studio's own: it counts tokens, has the budget, and its host takes answers to approvals. */
  readonly configurations: readonly [StudioConfiguration, ...(readonly StudioConfiguration[])];
  /** Models that a turn can be tried again with, as the member `model` of the model parameters. Default: the configured one alone. */
  readonly models?: readonly string[];
  /** How often the store is looked at for news, in milliseconds. Default 500. */
  readonly everyMs?: number;
  /** What is looked at, for a person: the place of the store. */
  readonly about: string;
}

/** The files of the page, by their names below `/studio/`. */
export type Assets = ReadonlyMap<string, string>;
