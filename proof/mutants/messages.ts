import type { Mutant } from "./mutations.ts";

/** The arguments of a runner. Paths are from `root`. */
export interface Setup {
  readonly root: string;
  /** The folder that is mutated. */
  readonly source: string;
  /** Which files are tests, as a glob. */
  readonly tests: string;
  /** Without a test that ends in so much time of the processor, the tests are in a loop. */
  readonly secondsWithoutProgressMax: number;
}

/** A job for a runner: run the tests in this order, up to the first failure. */
export interface Job {
  /** The replacement in a file; null for the files as they are. */
  readonly mutant: Pick<Mutant, "path" | "start" | "end" | "replacement"> | null;
  readonly tests: readonly string[];
}

/** A test file that passed. */
export interface Passed {
  readonly path: string;
  readonly seconds: number;
  /** The functions of the mutated folder that were called while it was loaded, and by its tests, by name. */
  readonly loaded: readonly string[];
  readonly reached: readonly string[];
}

/** The answer of a runner. */
export type Answer =
  /** The test file that failed, and with what message. */
  | { readonly outcome: "killed"; readonly by: string; readonly why: string; readonly passed: readonly Passed[] }
  | { readonly outcome: "survived"; readonly passed: readonly Passed[] }
  /** The tests never ended. The runner has ended. */
  | { readonly outcome: "timeout"; readonly by: string }
  /** The runner died, as of too much memory. */
  | { readonly outcome: "died"; readonly how: string }
  /** The tests could not be run, which says nothing about the mutant. The runner may have ended. */
  | { readonly outcome: "unable"; readonly problem: string };

/** Under this name a worker has its marks: a byte for each function, 1 when it was called. */
export const marks = "__functionsReached";
