import type { MachineOptions } from "@colloquy/machine";
import { compactTurns, compose, lastTurns, type Policy, tokenWindow } from "@colloquy/machine/policies";
import { ArgumentError } from "./exit-code.ts";
import type { OptionValues } from "./options.ts";

/** Returns the machine options of the command's conversations. @throws ArgumentError for an invalid number */
export const chatMachine = (
  { window, "max-turns": turns, react }: Pick<OptionValues, "window" | "max-turns" | "react">,
  isAgent: boolean,
): MachineOptions => {
  const budget = window === undefined ? undefined : budgetOf(window);
  const shown = turns === undefined ? undefined : lastTurns(wholeNumber("max-turns", turns, 0, "20"));
  return {
    // A waiting person gives up sooner than a server. A queued ask waits for a turn that another process answers, or in
    // which it died.
    idleTimeoutMs: 120_000,
    overlap: { type: "queue", max: 64 },
    ...(budget === undefined ? {} : { budget }),
    ...policyOf(budget !== undefined, shown, isAgent),
    ...(react === true ? { limits: { steps: 10 } } : {}),
  };
};

/** The instructions for a model that reasons before it acts; the machine itself loops over calls and results. */
export const reactInstructions =
  "Before each tool call, say in a sentence what you know, what is missing, and which tool gives it. When nothing is missing, answer.";

/** Returns the policy. An agent has its own policy, which keeps within a budget. */
const policyOf = (isBound: boolean, shown: Policy | undefined, isAgent: boolean): { readonly policy?: Policy } => {
  if (shown !== undefined) return { policy: isBound ? compose(shown, tokenWindow()) : shown };
  return isBound && !isAgent ? { policy: compactTurns() } : {};
};

/** Returns the budget: the window, with room for an answer. */
const budgetOf = (window: string): NonNullable<MachineOptions["budget"]> => {
  const tokens = wholeNumber("window", window, 1, "128000");
  return { tokens, reserve: Math.min(Math.floor(tokens / 4), longestAnswer) };
};

/** Few answers are longer, in tokens. */
const longestAnswer = 8_000;

const wholeNumber = (option: string, text: string, least: number, example: string): number => {
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number) && number >= least) return number;
  throw new ArgumentError(
    `--${option} is "${text}"; it must be a whole number of ${least} or more, such as ${example}`,
  );
};
