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

export const wordsOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

/** Returns the message of a broken law, which is complete, or the stack of any other error. */
export const stackOf = (thrown: unknown): string =>
  thrown instanceof Error && !("law" in thrown) ? (thrown.stack ?? thrown.message) : wordsOf(thrown);

export interface SeededRun {
  readonly seed: number;
  /** Empty if all is correct. */
  readonly violations: readonly string[];
  /** Other facts that help a reader with the violations. */
  readonly note?: string;
  /** Numbers of what happened, by its name in the plural. */
  readonly counts?: Readonly<Record<string, number>>;
  /** The seconds of what was measured, by its name. */
  readonly seconds?: Readonly<Record<string, readonly number[]>>;
}

/** Runs consecutive seeds, `atOnce` at a time. Starts no more after a violation. */
export const runSeeds = async <Run extends SeededRun>(
  runs: number,
  seed: number,
  run: (seed: number) => Promise<Run>,
  atOnce: number = 1,
): Promise<readonly Run[]> => {
  const done: Run[] = [];
  let [next, end] = [seed, seed + runs];
  const work = async (): Promise<void> => {
    while (next < end) {
      const ran = await run(next++);
      done.push(ran);
      if (ran.violations.length > 0) end = seed;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return done;
};

/** Prints the totals of runs, or if there are violations, those and how to repeat them, and makes this process fail. */
export const reportRuns = async (
  title: string,
  running: Promise<readonly SeededRun[]>,
  seed: number,
  again: Again,
): Promise<void> => {
  const seconds = stopwatch();
  const runs = await running;
  const failed = runs.filter(({ violations }) => violations.length > 0);
  if (failed.length === 0) console.log(`${title}: ${totalsOf(runs)}\nNothing is wrong. Seed ${seed}, ${seconds()} s.`);
  for (const { seed, violations, note } of failed) {
    console.error(`Seed ${seed}: ${count(violations.length, "violation")}.`);
    printViolations(violations);
    if (note !== undefined) console.error(note);
    console.error(`To see it again: ${again({ runs: 1, seed })}`);
  }
};

/** Formats the sums of all counts, and below them the least, median and most seconds of what was measured. */
const totalsOf = (runs: readonly SeededRun[]): string => {
  const counts = Map.groupBy(
    runs.flatMap((run) => Object.entries(run.counts ?? {})),
    ([name]) => name,
  );
  const seconds = Map.groupBy(
    runs.flatMap((run) => Object.entries(run.seconds ?? {})),
    ([name]) => name,
  );
  const sums = [...counts].map(
    ([name, of]) => `${of.reduce((sum, [, each]) => sum + each, 0).toLocaleString("en")} ${name}`,
  );
  const rows = [...seconds].flatMap(([name, of]) => {
    const sorted = of.flatMap(([, each]) => each).toSorted((one, other) => one - other);
    const shown = [sorted[0], medianOf(sorted), sorted.at(-1)].map((each) => (each ?? 0).toFixed(2).padStart(6));
    return sorted.length === 0 ? [] : [`  ${shown.join(" ")} s (min, median, max)  ${name}`];
  });
  return [[count(runs.length, "run"), ...sums].join("; "), ...rows].join("\n");
};

export const timesOf = (names: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, of]) => [name, of.length]));

export const medianOf = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? 0;
