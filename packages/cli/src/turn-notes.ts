import type { HostedThread } from "@colloquy/host";
import { type CallLlm, turnNumbered } from "@colloquy/machine";
import { figuresOf as figuresOfTurn, printableJson } from "@colloquy/cli/terminal";

/** Returns the usage of a turn in one line; null if it no longer exists. */
export const figuresOf = async (thread: HostedThread, number: number): Promise<string | null> => {
  const state = await thread.state();
  const turn = state === null ? undefined : turnNumbered(state, number);
  return turn === undefined ? null : figuresOfTurn(turn);
};

/** Formats the sent prompt of a model call for a person. */
export const promptText = ({ turn, step, messages, model }: CallLlm): string =>
  [
    `prompt of turn ${turn}, step ${step}: ${messages.length} messages, ${printableJson(model)}`,
    ...messages.map((message) => `  ${printableJson(message)}`),
  ].join("\n");
