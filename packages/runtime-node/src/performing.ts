import { type RuntimePerforming, runtimePerforming, type RuntimePerformingOptions } from "@colloquy/host/runtime";
import { failures } from "./failure-report.ts";
import { systemClock } from "./ports/system.ts";

export { reasonOf } from "./failure-report.ts";
export { systemClock };
export type { RuntimePerforming as Performing, RuntimePerformingOptions as PerformingOptions };

/**
 * Fills in the real parts that are not given: a machine that declares the tools, the system clock, reports on the
 * console, and reasons without text that looks like a secret.
 *
 * @param of the name of the function that takes these options, for error messages
 * @throws ConfigurationError if `machine` is not a machine or has tools of its own, or if two system prompts are given.
 */
export const performingOf = (of: string, options: RuntimePerformingOptions): RuntimePerforming =>
  runtimePerforming({ clock: systemClock, failures }, options, of);
