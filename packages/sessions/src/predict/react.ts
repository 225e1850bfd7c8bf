import type { Tool } from "@colloquy/host";
import { checkOptions, kinds } from "@colloquy/host/store";
import type { ProgramFunction } from "../program/program.ts";
import { asking, predictOptionKinds, type PredictOptions } from "./predict.ts";

/** A program that reasons with tools before it answers. */
export interface ReactOptions<
  Given extends object,
  Inputs extends object,
  Outputs extends object,
  Result extends object,
> extends PredictOptions<Given, Inputs, Outputs, Result> {
  /** The tools for the model, within the `limits`. */
  readonly tools: readonly Tool[];
}

/**
 * Makes a program like `predict`, with tools: the model uses them, step by step, until it answers with the outputs.
 * Each step is journalled in a separate thread. Approvals, recovery and concurrency of tools work as in any ask. If
 * `limits` name no steps, ten are allowed.
 */
export const react = <Given extends object, Inputs extends object, Outputs extends object, Result extends object>(
  options: ReactOptions<Given, Inputs, Outputs, Result>,
): ProgramFunction<Given, Result> => {
  checkOptions("react", options, { ...predictOptionKinds, tools: kinds.needed(kinds.tools) });
  return asking({ name: "react", ...options, limits: { steps: 10, ...options.limits } });
};
