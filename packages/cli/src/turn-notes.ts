import type { HostedThread } from "@colloquy/host";
import { type CallLlm, turnNumbered } from "@colloquy/machine";
import { figuresOf as figuresOfTurn, printableJson } from "@colloquy/terminal";

/** What a turn took, in one line; null where it is not there any more. */
export const figuresOf = async (thread: HostedThread, number: number): Promise<string | null> => {
  const state = await thread.state();
  const turn = state === null ? undefined : turnNumbered(state, number);
  return turn === undefined ? null : figuresOfTurn(turn);
};

/** The prompt of a model call as it was sent, for a person. */
export const promptText = ({ turn, step, messages, model }: CallLlm): string =>
  [
    `prompt of turn ${turn}, step ${step}: ${messages.length} messages, ${printableJson(model)}`,
    ...messages.map((message) => `  ${printableJson(message)}`),
  ].join("\n");
