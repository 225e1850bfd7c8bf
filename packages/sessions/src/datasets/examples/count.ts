import { type Counter, countPrompt } from "@colloquy/machine/policies";
import type { Message } from "@colloquy/machine";
import type { ExampleTokens } from "./example.ts";

/**
 * Counts the tokens of an example by the formula of OpenAI's cookbook: those of the prompt with the reply. A message
 * with a name costs the tokens of the name and one more. With `gptCounter` the cookbook's own example has 124 tokens,
 * as the API reports.
 */
export const tokensOfExample = (counter: Counter, prompt: readonly Message[], reply: Message): ExampleTokens => {
  const messages = [...prompt, reply];
  const names = messages.reduce(
    (sum, { name }) => sum + (name === undefined ? 0 : 1 + counter.countPart({ type: "text", text: name })),
    0,
  );
  return {
    total: countPrompt(counter, messages) + names,
    trained: reply.parts.reduce((sum, part) => sum + counter.countPart(part), 0),
  };
};
