/** How many cases a property tries: as many as its test can afford in a usual run, or `COLLOQUY_RUNS` of them. */
export const runs = (usual: number): number => {
  const wanted = process.env["COLLOQUY_RUNS"];
  if (wanted === undefined) return usual;
  const number = Number(wanted);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new RangeError(`COLLOQUY_RUNS is "${wanted}"; it must be a whole number of 1 or more`);
  return number;
};
