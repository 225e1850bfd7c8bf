/**
 * The laws that a simulation checks on a host: those of the design, and `settles`: every request to a host ends, with a
 * result or with an error of a known type.
 */
export type Law =
  | "M2"
  | "M3"
  | "M5"
  | "M6"
  | "M7"
  | "M8"
  | "M9"
  | "M10"
  | "M13"
  | "P1"
  | "P3"
  | "P4"
  | "P10"
  | "R1"
  | "R2"
  | "R3"
  | "R5"
  | "settles";

/**
 * Error of a simulated conversation that broke a law. The same seed, with the same script and faults, breaks it again.
 */
export class SimulationError extends Error {
  override readonly name = "SimulationError";
  readonly law: Law;
  readonly what: string;
  readonly seed: number;
  /** How many crossings into or out of a host had happened. */
  readonly step: number;
  /** All events, a line each. */
  readonly trace: readonly string[];

  constructor(law: Law, what: string, seed: number, step: number, trace: readonly string[]) {
    super(
      `law ${law} is broken: ${what}\nseed ${seed}, step ${step}. What happened last:\n` +
        `${trace.slice(-linesShown).join("\n")}\n` +
        `To see it again: pnpm simulate --runs 1 --seed ${seed} (a script or faults of your own, if there were any, with it)`,
    );
    this.law = law;
    this.what = what;
    this.seed = seed;
    this.step = step;
    this.trace = trace;
  }
}

const linesShown = 30;

/** Error that is thrown on purpose, so that it differs from a mistake. */
export class SimulatedFailure extends Error {
  override readonly name = "SimulatedFailure";
}
