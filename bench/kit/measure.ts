/** A figure of a benchmark: a ratio within one run, and its bound. */
export interface Figure {
  readonly name: string;
  /** Ours divided by the reference, unless the name says otherwise. */
  readonly value: number;
  /** The upper bound of the figure. Infinity: it is only reported. */
  readonly most: number;
  readonly note: string;
}

export const figureOf = (
  name: string,
  { ours, reference, ratio }: Pair,
  most: number,
  remark: string = "",
): Figure => ({
  name,
  value: ratio,
  most,
  note: `${short(ours)} µs against ${short(reference)}${remark === "" ? "" : `, ${remark}`}`,
});

/** Returns the microseconds of CPU of this process, on all its threads. */
export const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

export interface Pair {
  /** The median over the rounds of microseconds of CPU a unit; `reference` likewise. */
  readonly ours: number;
  readonly reference: number;
  /** The median over the rounds of our cost divided by the reference's. */
  readonly ratio: number;
}

/** Measures the CPU of two pieces of work, after a warm-up that compiles hot code. */
export const pair = async (
  rounds: number,
  units: number,
  ours: () => unknown,
  reference: () => unknown,
): Promise<Pair> => {
  await warmUp(ours);
  await warmUp(reference);
  return byTurns(rounds, units, ours, reference);
};

/**
 * Measures the CPU of two pieces of work in microseconds a unit, alternately. Each round gives a ratio, since a machine
 * whose speed changes between rounds affects both sides of a ratio alike, but could affect the sides' medians
 * differently. The sides take turns to be first, since the second also collects garbage of the first.
 */
export const byTurns = async (
  rounds: number,
  units: number,
  ours: () => unknown,
  reference: () => unknown,
): Promise<Pair> => {
  const mine: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) mine.push(await timed(units, ours));
    theirs.push(await timed(units, reference));
    if (round % 2 === 1) mine.push(await timed(units, ours));
  }
  return {
    ours: median(mine),
    reference: median(theirs),
    ratio: median(mine.map((cost, round) => cost / (theirs[round] ?? Number.NaN))),
  };
};

/**
 * Measures the CPU of a piece of work in microseconds a unit. Garbage collection is part of it, but not forced: a
 * forced collection shrinks the young generation, and the next measurement would pay for its growth.
 */
const timed = async (units: number, work: () => unknown): Promise<number> => {
  const before = cpuMicros();
  await work();
  return (cpuMicros() - before) / units;
};

/** Runs the work for a while: compiling code that runs often takes CPU on other threads, which must not count. */
const warmUp = async (work: () => unknown): Promise<void> => {
  const until = cpuMicros() + 3_000_000;
  while (cpuMicros() < until) await work();
};

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

export const short = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);

export const times = (count: number, work: () => unknown): void => {
  for (let done = 0; done < count; done++) work();
};
