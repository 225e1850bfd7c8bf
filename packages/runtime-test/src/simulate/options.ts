import type { Host, HostOptions, Store } from "@colloquy/host";
import type { Entry, State } from "@colloquy/machine";
import type { Script } from "./script/script.ts";
import type { Fault, Faults } from "./world/faults.ts";

/** The options of a simulation. */
export interface SimulateOptions {
  /** A whole number from 0 to 2^53 - 1, which determines everything that is random. */
  readonly seed: number;
  /** The script. Default: a conversation generated from the seed. */
  readonly script?: Script;
  /** How often each fault happens; absent ones as in `defaultFaults`. Default `defaultFaults`. */
  readonly faults?: Partial<Faults> | "none";
  /** Steps (crossings into or out of a host) at which the process dies, whatever the faults say. */
  readonly crashAt?: readonly number[];
  /** Makes the host to be tested from the simulated parts. Default: the host that users run. */
  readonly createHost?: (options: HostOptions) => Host;
  /** Makes the store under the faulty one. It must use this clock. Default `memoryStore`. */
  readonly createStore?: (options: Pick<HostOptions, "clock">) => Store;
}

/** A simulated conversation that broke no law. */
export interface Simulation {
  readonly seed: number;
  readonly journal: readonly Entry[];
  /** All events, a line each. The same seed gives the same text. */
  readonly trace: readonly string[];
  readonly state: State;
  readonly counts: SimulationCounts;
}

export interface SimulationCounts {
  /** How often each fault happened. */
  readonly faults: { readonly [Each in Fault]?: number };
  /** How often an event was handled in a state: `responding llm.completed`. */
  readonly transitions: { readonly [transition: string]: number };
  /** How many times a call entered or left a host. At each of these a process can die. */
  readonly steps: number;
  readonly processes: number;
}
