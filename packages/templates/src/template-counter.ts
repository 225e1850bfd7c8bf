import { partText } from "@colloquy/machine";
import type { Counter } from "@colloquy/machine/policies";
import * as Either from "fp-ts/lib/Either.js";
import type { Template } from "./template/template.ts";

/** A model's own tokenizer. */
export interface Tokenizer {
  /** Says which: it is part of what identifies the counter. */
  readonly name: string;
  /** How many tokens a text is. Synchronous and pure. */
  readonly count: (text: string) => number;
}

/**
 * Counts a prompt as the text that a template makes of it, generation prompt included, so that a policy such as
 * `tokenWindow` bounds that text. Messages that the template can't render are counted by their texts alone: the call
 * that would send them fails, and says why.
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
