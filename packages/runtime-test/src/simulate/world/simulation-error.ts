/**
 * The laws that a simulation holds a host to: those of the design, and `settles`: whatever is asked of a host
 * comes to an end, by a result or by an error of a known type.
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

/** A simulated conversation broke a law. The same seed, with the same script and faults, breaks it again. */
export class SimulationError extends Error {
  override readonly name = "SimulationError";
  readonly law: Law;
  readonly what: string;
  readonly seed: number;
  /** How many times something had entered or left a host. */
  readonly step: number;
  /** All that happened, a line each. */
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

/** What is thrown on purpose, so that it differs from a mistake. */
export class SimulatedFailure extends Error {
  override readonly name = "SimulatedFailure";
}
