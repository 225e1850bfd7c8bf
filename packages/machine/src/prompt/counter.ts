import type { JsonObject } from "../thread/plain-data.ts";
import type { Message, Part } from "../thread/message.ts";

/** A token counter: synchronous, pure, and identified by name and version like a policy. */
export interface Counter {
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
  /** Returns the tokens of one part. */
  readonly countPart: (part: Part) => number;
  /** The tokens of each message beside its parts. */
  readonly perMessage: number;
  /** The tokens of each prompt beside its messages. */
  readonly perPrompt: number;
  /**
   * Returns the tokens of a whole prompt, if they are not a sum of its parts (because a template wraps them). More
   * messages must never take fewer tokens.
   */
  readonly countPrompt?: (messages: readonly Message[]) => number;
}

/** Returns the tokens of one message. */
export const countMessage = (counter: Counter, message: Message): number =>
  message.parts.reduce((total, part) => total + counter.countPart(part), counter.perMessage);

/** Returns the tokens of a prompt. */
export const countPrompt = (counter: Counter, messages: readonly Message[]): number =>
  counter.countPrompt?.(messages) ??
  messages.reduce((total, message) => total + countMessage(counter, message), counter.perPrompt);

/**
 * Estimates tokens without a tokenizer: one for every four characters of text, and 765 for each image (a high-detail
 * square of OpenAI's vision pricing). Measured against the exact count of 1,910 recorded messages (`pnpm count`), a
 * message is off by 20% at the median and by 35% at the 90th percentile. The total is off by 1%, since prose is
 * counted 18% to 22% too high and tool results, which are JSON, 30% too low.
 */
export const estimateCounter: Counter = Object.freeze<Counter>({
  name: "estimate",
  version: 1,
  options: Object.freeze({}),
  perMessage: 4,
  perPrompt: 3,
  countPart: (part) => estimate(part),
});

const charactersPerToken = 4;
const tokensPerImage = 765;

const estimate = (part: Part): number => {
  switch (part.type) {
    case "text":
    case "reasoning":
    case "refusal":
      return Math.ceil(part.text.length / charactersPerToken);
    case "data":
      return Math.ceil((part.field.length + JSON.stringify(part.value).length) / charactersPerToken);
    case "image":
      return tokensPerImage;
    case "opaque":
      return Math.ceil(JSON.stringify(part.value).length / charactersPerToken);
    case "toolCall":
      return Math.ceil((part.name.length + part.arguments.length) / charactersPerToken);
    case "toolResult":
      return part.content.reduce((total, inner) => total + estimate(inner), 0);
  }
};
