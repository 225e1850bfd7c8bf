/** One figure of a benchmark: a ratio within one run, compared with what is allowed. */
export interface Figure {
  readonly name: string;
  /** Ours divided by the reference, unless the name says otherwise. */
  readonly value: number;
  /** The figure falls short above this. Infinity: it is only reported. */
  readonly most: number;
  readonly note: string;
}

/** Microseconds of this process's CPU, on all of its threads. */
export const cpuMicros = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/** The cost of two pieces of work, measured alternately. */
export interface Pair {
  /** Microseconds of CPU a unit, the median over the rounds, as the next. */
  readonly ours: number;
  readonly reference: number;
  /** The median over the rounds of our cost divided by the reference's. */
  readonly ratio: number;
}

/** The CPU of two pieces of work, once what runs often is compiled. */
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
 * The CPU of two pieces of work, in microseconds a unit, measured by turns. Each round is a ratio of its own: a machine whose
 * speed jumps between two rounds changes both sides of each, where the medians of the two sides may be of different speeds.
 * The sides begin by turns, since who comes second also collects garbage of the first.
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
 * The CPU of one piece of work, in microseconds a unit. Collecting garbage is part of it, and not forced: a forced
 * collection shrinks the young generation, and what is measured next pays for growing it again.
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

/** The middle value. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** A number of microseconds or a ratio, short. */
export const short = (value: number): string => value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
