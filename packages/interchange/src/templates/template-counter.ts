import { partText } from "@colloquy/machine";
import type { Counter } from "@colloquy/machine/policies";
import * as Either from "fp-ts/lib/Either.js";
import type { Template } from "./template/template.ts";

/** A model's own tokenizer. */
export interface Tokenizer {
  /** Identifies the tokenizer as part of the counter's identity. */
  readonly name: string;
  /** Returns the number of tokens of a text. Synchronous and pure. */
  readonly count: (text: string) => number;
}

/**
 * Creates a counter that counts the rendered text of a prompt, including the generation prompt. So a policy such as
 * `tokenWindow` bounds that text. For messages that the template cannot render it counts their texts alone; the call
 * that would send them fails and says why.
 */
export const templateCounter = (template: Template, tokenizer: Tokenizer): Counter => {
  const { name, version, options } = template;
  return {
    name: "template",
    version: 1,
    options: { template: { name, version, options }, tokenizer: tokenizer.name },
    perMessage: 0,
    perPrompt: 0,
    countPart: (part) => tokenizer.count(partText(part)),
    countPrompt: (messages) => {
      const rendered = template.render(messages);
      const texts = (): string => messages.flatMap(({ parts }) => parts.map(partText)).join("\n");
      return tokenizer.count(Either.isRight(rendered) ? rendered.right : texts());
    },
  };
};
