/** One thing that was measured. */
export interface Cost {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** Milliseconds. */
export const elapsed = async (work: () => unknown): Promise<number> => {
  const before = performance.now();
  await work();
  return performance.now() - before;
};

/**
 * Measures work in milliseconds, undisturbed by other load: the least of several times, of fewer if one takes seconds.
 * `work` gets the number of the time.
 */
export const least = async (times: number, work: (time: number) => unknown): Promise<number> => {
  const began = performance.now();
  let best = Infinity;
  for (let time = 0; time < times && (time === 0 || performance.now() - began < patienceMs); time++)
    best = Math.min(best, await elapsed(() => work(time)).catch(never));
  return best;
};

const patienceMs = 5_000;

/** Logs an error, and counts the work as taking for ever. A store that gives up waiting fails so. */
const never = (thrown: unknown): number => {
  console.error(String(thrown));
  return Infinity;
};
