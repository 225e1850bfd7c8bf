/** The seed of every property of `pnpm test`, so that all runs are the same. */
const usualSeed = 1;

/** Returns the seed of every property of this run: `COLLOQUY_SEED`, which `pnpm test:seeds` and the gate choose. */
export const seedOfRun = (): number => {
  const wanted = process.env["COLLOQUY_SEED"];
  if (wanted === undefined) return usualSeed;
  if (!/^\d{1,9}$/.test(wanted))
    throw new RangeError(`COLLOQUY_SEED is "${wanted}"; it must be a whole number of at most nine digits`);
  return Number(wanted);
};
