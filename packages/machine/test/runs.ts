/** How many cases a property tries: as many as its test can afford in a usual run, or `COLLOQUY_RUNS` of them. */
export const runs = (usual: number): number => Number(process.env["COLLOQUY_RUNS"] ?? usual);
