import type { Again } from "./command.ts";
import { count, printViolations, stopwatch } from "./report.ts";

/** The outcome of one seed. */
export interface SeededRun {
  readonly seed: number;
  /** Empty when all is as it should be. */
  readonly violations: readonly string[];
  /** Other facts that help a reader with the violations. */
  readonly note?: string;
}

/** Runs consecutive seeds, so many at once. Begins no more after a violation. */
export const runSeeds = async <Run extends SeededRun>(
  runs: number,
  seed: number,
  run: (seed: number) => Promise<Run>,
  atOnce: number = 1,
): Promise<readonly Run[]> => {
  const done: Run[] = [];
  let next = seed;
  const work = async (): Promise<void> => {
    while (next < seed + runs && done.every(({ violations }) => violations.length === 0)) done.push(await run(next++));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return done;
};

/** Prints the totals of runs; or, if runs have violations, those, and how to repeat them: then this process fails. */
export const reportRuns = async <Run extends SeededRun>(
  running: Promise<readonly Run[]>,
  totals: (runs: readonly Run[]) => string,
  seed: number,
  again: Again,
): Promise<void> => {
  const seconds = stopwatch();
  const runs = await running;
  const failed = runs.filter(({ violations }) => violations.length > 0);
  if (failed.length === 0) console.log(`${totals(runs)}\nNothing is wrong. Seed ${seed}, ${seconds()} s.`);
  for (const { seed, violations, note } of failed) {
    console.error(`Seed ${seed}: ${count(violations.length, "violation")}.`);
    printViolations(violations);
    if (note !== undefined) console.error(note);
    console.error(`To see it again: ${again({ runs: 1, seed })}`);
  }
};

/** Returns a sum over all runs, for a reader. */
export const sumOf = <Run>(runs: readonly Run[], of: (run: Run) => number): string =>
  runs.reduce((total, run) => total + of(run), 0).toLocaleString("en");
