import type { Mutant } from "./mutations.ts";

/** The arguments of a runner. Paths are from `root`. */
export interface Setup {
  readonly root: string;
  /** The folder that is mutated. */
  readonly source: string;
  /** The test files, as a glob. */
  readonly tests: string;
  /** The processor seconds without a finished test after which the tests count as an endless loop. */
  readonly secondsWithoutProgressMax: number;
}

/** Runs the tests in this order, up to the first failure. */
export interface Job {
  /** The replacement in a file; null for the unchanged files. */
  readonly mutant: Pick<Mutant, "path" | "start" | "end" | "replacement"> | null;
  readonly tests: readonly string[];
}

/** A test file that passed. */
export interface Passed {
  readonly path: string;
  readonly seconds: number;
  /** The names of the functions in the mutated folder that were called while the test loaded, and while it ran. */
  readonly loaded: readonly string[];
  readonly reached: readonly string[];
}

export type Answer =
  /** The test file that failed, and its message. */
  | { readonly outcome: "killed"; readonly by: string; readonly why: string; readonly passed: readonly Passed[] }
  | { readonly outcome: "survived"; readonly passed: readonly Passed[] }
  /** The tests never ended. The runner has ended. */
  | { readonly outcome: "timeout"; readonly by: string }
  /** The runner died, for example of too much memory. */
  | { readonly outcome: "died"; readonly how: string }
  /** The tests could not run, which proves nothing about the mutant. The runner may have ended. */
  | { readonly outcome: "unable"; readonly problem: string };

/** The name of a worker's marks: a byte for each function, 1 once it was called. */
export const marks = "__functionsReached";
