export interface Cost {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

export const elapsed = async (work: () => unknown): Promise<number> => {
  const before = performance.now();
  await work();
  return performance.now() - before;
};

/**
 * Measures work in milliseconds, without the effect of other load: the least of several times, of fewer if one takes
 * seconds. `work` gets the number of the repetition.
 */
export const least = async (times: number, work: (time: number) => unknown): Promise<number> => {
  const began = performance.now();
  let best = Infinity;
  for (let time = 0; time < times && (time === 0 || performance.now() - began < patienceMs); time++)
    best = Math.min(best, await elapsed(() => work(time)).catch(never));
  return best;
};

const patienceMs = 5_000;

/** Logs an error, such as a store's timeout, and returns Infinity as the time. */
const never = (thrown: unknown): number => {
  console.error(String(thrown));
  return Infinity;
};
