import { availableParallelism } from "node:os";

/** Runs of consecutive seeds, as many at once as there are processors. Begins no more after a violation. */
export const runConsecutive = async <Run extends { readonly violations: readonly unknown[] }>(
  runs: number,
  seed: number,
  run: (seed: number) => Promise<Run>,
): Promise<readonly Run[]> => {
  const done: Run[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < runs && done.every(({ violations }) => violations.length === 0)) {
      const offset = next;
      next += 1;
      done.push(await run(seed + offset));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return done;
};
