import type { Again } from "./command.ts";

/** Starts a stopwatch: a function that returns the seconds since now. */
export const stopwatch = (): (() => string) => {
  const started = performance.now();
  return () => ((performance.now() - started) / 1000).toFixed(1);
};

/** Prints the first violations. Makes this process fail if there are any. */
export const printViolations = (violations: readonly string[]): void => {
  for (const violation of violations.slice(0, violationsShown)) console.error(`  ${violation}`);
  if (violations.length > violationsShown) console.error(`  and ${violations.length - violationsShown} more`);
  if (violations.length > 0) process.exitCode = 1;
};

const violationsShown = 10;

/** Formats a count: `1 violation`, `2 violations`. */
export const count = (number: number, noun: string): string =>
  `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** Returns the text of a thrown value. */
export const wordsOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** The outcome of one seed. */
export interface SeededRun {
  readonly seed: number;
  /** Empty if all is correct. */
  readonly violations: readonly string[];
  /** Other facts that help a reader with the violations. */
  readonly note?: string;
}

/** Runs consecutive seeds, `atOnce` at a time. Starts no more after a violation. */
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

/** Prints the totals of runs, or if there are violations, those and how to repeat them, and makes this process fail. */
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

/** Formats a sum over all runs. */
export const sumOf = <Run>(runs: readonly Run[], of: (run: Run) => number): string =>
  runs.reduce((total, run) => total + of(run), 0).toLocaleString("en");
