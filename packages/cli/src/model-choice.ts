import type { AskOptions } from "@colloquy/host";
import type { MachineOptions } from "@colloquy/machine";
import type { Choice } from "@colloquy/terminal";

/** Which model is asked: any of the provider, by its name; those that have prices are offered. */
export interface ModelChoice extends Choice {
  /** What an ask says of it: nothing where nobody chose. */
  readonly asked: () => Pick<AskOptions, "model">;
}

/** @param given the name that the user gave; @param otherwise what is called where nobody chooses */
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
