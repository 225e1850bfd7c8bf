import { type RuntimePerforming, runtimePerforming, type RuntimePerformingOptions } from "@colloquy/host/runtime";
import { failures } from "./failure-report.ts";
import { systemClock } from "./ports/clock.ts";

export { reasonOf } from "./failure-report.ts";
export { systemClock };
export type { RuntimePerforming as Performing, RuntimePerformingOptions as PerformingOptions };

/**
 * Puts the real parts where none are given: a machine that declares the tools, the computer's clock, reports on the console,
 * reasons without what looks like a secret.
 *
 * @param of the function that takes these options, for the errors
 * @throws ConfigurationError where `machine` is none, has tools of its own, or two system prompts are given.
 */
export const performingOf = (of: string, options: RuntimePerformingOptions): RuntimePerforming =>
  runtimePerforming({ clock: systemClock, failures }, options, of);
