/** What every property of `pnpm test` draws its cases from, so that it is the same run for everybody. */
const usualSeed = 1;

/** What every property of this run draws its cases from: `COLLOQUY_SEED`, which `pnpm test:seeds` and the gate choose. */
export const seedOfRun = (): number => {
  const wanted = process.env["COLLOQUY_SEED"];
  if (wanted === undefined) return usualSeed;
  if (!/^\d{1,9}$/.test(wanted))
    throw new RangeError(`COLLOQUY_SEED is "${wanted}"; it must be a whole number of at most nine digits`);
  return Number(wanted);
};
