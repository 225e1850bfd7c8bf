import { type Counter, countPrompt } from "@colloquy/machine/policies";
import type { Message } from "@colloquy/machine";
import type { ExampleTokens } from "./example.ts";

/**
 * The tokens of an example, by the formula of OpenAI's cookbook: those of a prompt with the reply in it, where a message
 * with a name takes the tokens of the name and one more. With `gptCounter` the cookbook's own example takes 124, as the API reports.
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
