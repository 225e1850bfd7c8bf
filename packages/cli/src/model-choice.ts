import type { AskOptions } from "@colloquy/host";
import type { MachineOptions } from "@colloquy/machine";
import type { Choice } from "@colloquy/cli/terminal";

/** The choice of the model: any model of the provider, by name; models with prices are offered. */
export interface ModelChoice extends Choice {
  /** Returns the model option of an ask; empty if no model was chosen. */
  readonly asked: () => Pick<AskOptions, "model">;
}

/** @param given the name that the user gave; @param otherwise the model that is called if none is chosen */
export const modelChoice = (
  given: string | undefined,
  otherwise: string,
  pricing: MachineOptions["pricing"],
): ModelChoice => {
  let chosen = given;
  const priced = Object.keys(pricing?.options["models"] ?? {});
  return {
    names: [...new Set([otherwise, ...priced])],
    present: () => chosen ?? otherwise,
    choose: (name) => void (chosen = name),
    asked: () => (chosen === undefined ? {} : { model: { model: chosen } }),
  };
};
