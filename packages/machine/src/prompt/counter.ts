import type { JsonObject } from "../thread/json.ts";
import type { Message, Part } from "../thread/message.ts";

/** Counts tokens: synchronous, pure, and a value like a policy. */
export interface Counter {
  readonly name: string;
  readonly version: number;
  readonly options: JsonObject;
  /** Tokens of one part. */
  readonly countPart: (part: Part) => number;
  /** Tokens that each message costs beside its parts. */
  readonly perMessage: number;
  /** Tokens that each prompt costs beside its messages. */
  readonly perPrompt: number;
  /** Tokens of a whole prompt, where they are no sum of its parts' (a template is laid around them). More messages never take less. */
  readonly countPrompt?: (messages: readonly Message[]) => number;
}

/** Tokens of one message. */
export const countMessage = (counter: Counter, message: Message): number =>
  message.parts.reduce((total, part) => total + counter.countPart(part), counter.perMessage);

/** Tokens of a prompt. */
export const countPrompt = (counter: Counter, messages: readonly Message[]): number =>
  counter.countPrompt?.(messages) ??
  messages.reduce((total, message) => total + countMessage(counter, message), counter.perPrompt);

/**
 * An estimate that needs nothing: a token for each four characters of text, each image as 765 tokens (a
 * high-detail square of OpenAI's vision pricing). Against the exact count of 1,910 recorded messages (`pnpm count`) a
 * message is off by 20% at the median and by 35% at the 90th percentile, all of them together by 1%, since prose is
 * counted 18% to 22% too high and tool results, being JSON, 30% too low.
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
