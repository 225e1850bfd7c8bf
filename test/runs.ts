/**
 * Returns how many cases a property tries. `pnpm test` tries an eighth of `full`, always the same cases; the gate tries
 * as many others, which follow from the sources (`pnpm other-day`). `pnpm test:seeds` and `pnpm test:long` try
 * all. `COLLOQUY_RUNS` sets the number for one run: `full`, or a whole number.
 */
export const runs = (full: number): number => {
  const wanted = process.env["COLLOQUY_RUNS"];
  if (wanted === undefined) return Math.ceil(full / 8);
  if (wanted === "full") return full;
  const number = Number(wanted);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new RangeError(`COLLOQUY_RUNS is "${wanted}"; it must be "full" or a whole number of 1 or more`);
  return number;
};

/** Returns as many of these as `runs` says, from the first to the last of them at equal distances. */
export const spread = <Value>(all: readonly Value[]): readonly Value[] => {
  const count = Math.min(all.length, runs(all.length));
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)] as Value);
};
