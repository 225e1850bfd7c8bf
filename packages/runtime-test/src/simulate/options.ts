import type { Host, HostOptions, Store } from "@colloquy/host";
import type { Entry, State } from "@colloquy/machine";
import type { Script } from "./script/script.ts";
import type { Fault, Faults } from "./world/faults.ts";

/** What to simulate. */
export interface SimulateOptions {
  /** A whole number from 0 to 2^53 - 1, which decides everything that is left to chance. */
  readonly seed: number;
  /** Default: a conversation made up from the seed. */
  readonly script?: Script;
  /** How often each fault comes; those left out as in `defaultFaults`. Default `defaultFaults`. */
  readonly faults?: Partial<Faults> | "none";
  /** Steps (times that something enters or leaves a host) at which the process dies, whatever the faults say. */
  readonly crashAt?: readonly number[];
  /** The host to be put to the test, made from the simulated parts. Default: the host that users run. */
  readonly createHost?: (options: HostOptions) => Host;
  /** The store beneath the faulty one. Its time has to be the clock's. Default `memoryStore`. */
  readonly createStore?: (options: Pick<HostOptions, "clock">) => Store;
}

/** A simulated conversation that broke no law. */
export interface Simulation {
  readonly seed: number;
  readonly journal: readonly Entry[];
  /** All that happened, a line each. The same seed gives the same text. */
  readonly trace: readonly string[];
  readonly state: State;
  readonly counts: SimulationCounts;
}

export interface SimulationCounts {
  /** How often each fault came. */
  readonly faults: { readonly [Each in Fault]?: number };
  /** How often an event was taken in a state: `responding llm.completed`. */
  readonly transitions: { readonly [transition: string]: number };
  /** How many times something entered or left a host: any of these is where a process can die. */
  readonly steps: number;
  readonly processes: number;
}
