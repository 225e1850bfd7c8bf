import { seedOfRun } from "./seed.ts";

/**
 * Returns the number of cases that a property tries. `pnpm test` tries a thirty-second of `full`, always the same ones.
 * The gate tries twice as many others, which the sources choose (`pnpm other-day`). `pnpm test:seeds` and `pnpm
 * test:long` try all. `COLLOQUY_RUNS` sets the number for one run: `full`, a sixteenth (`1/16`), or a whole number.
 */
export const runs = (full: number): number => {
  const wanted = process.env["COLLOQUY_RUNS"];
  if (wanted === undefined) return Math.ceil(full / 32);
  if (wanted === "full") return full;
  if (wanted === sixteenth) return Math.ceil(full / 16);
  const number = Number(wanted);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new RangeError(
      `COLLOQUY_RUNS is "${wanted}"; it must be "full", "${sixteenth}", or a whole number of 1 or more`,
    );
  return number;
};

/** The value of `COLLOQUY_RUNS` for a sixteenth of all cases. */
export const sixteenth = "1/16";

/**
 * Returns `runs(all.length)` of these, and at least `least`, at equal distances. The seed of the run decides which, so
 * the gate tries others than `pnpm test`. `pnpm test:long` takes all.
 */
export const spread = <Value>(all: readonly Value[], least = 1): readonly Value[] => {
  const count = Math.min(all.length, Math.max(least, runs(all.length)));
  const first = seedOfRun() % Math.ceil(all.length / Math.max(1, count));
  return Array.from(
    { length: count },
    (_, index) => all[(first + Math.floor((index * all.length) / count)) % all.length] as Value,
  );
};
