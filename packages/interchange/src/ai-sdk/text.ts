import type { JsonObject, DataPart, Part, ReasoningPart, RefusalPart, TextPart } from "@colloquy/machine";
import { type AiOptions, fieldsOfOptions, optionsOf } from "./provider-options.ts";
import { isJsonObject } from "../exchange/json-object.ts";

/** A text or reasoning of the AI SDK, before its options get their name in the SDK. */
export interface AiText {
  readonly type: "text" | "reasoning";
  readonly text: string;
  readonly options: AiOptions | undefined;
}

/**
 * Converts a part to a text or reasoning of the SDK. A data field is written as text, and a refusal becomes a marked
 * text.
 */
export const aiTextOf = (part: Part): AiText | undefined => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text, options: optionsOf(part.provider) };
    case "refusal":
      return { type: "text", text: part.text, options: optionsOf(part.provider, { refusal: true }) };
    case "data": {
      const { field, value } = part;
      const text = `${field}: ${JSON.stringify(value)}`;
      return { type: "text", text, options: optionsOf(undefined, { data: { field, value } }) };
    }
    default:
      return undefined;
  }
};

/** Returns the part for a text of the SDK. */
export const partOfAiText = (text: string, options: AiOptions | undefined): TextPart | DataPart => {
  const { own, provider } = fieldsOfOptions(options);
  return dataOf(own) ?? { type: "text", text, ...(provider === undefined ? {} : { provider }) };
};

/** Returns the part for a model's text, which may also be a refusal. */
export const replyPartOfAiText = (text: string, options: AiOptions | undefined): TextPart | DataPart | RefusalPart => {
  const { own, provider } = fieldsOfOptions(options);
  if (own["refusal"] !== true) return partOfAiText(text, options);
  return { type: "refusal", text, ...(provider === undefined ? {} : { provider }) };
};

/** Returns the SDK's reasoning, with the signatures in its options. */
export const reasoningOfAi = (text: string, options: AiOptions | undefined): ReasoningPart => {
  const { provider } = fieldsOfOptions(options);
  return { type: "reasoning", text, ...(provider === undefined ? {} : { provider }) };
};

const dataOf = ({ data }: JsonObject): DataPart | undefined => {
  if (!isJsonObject(data)) return undefined;
  const { field, value } = data;
  return typeof field === "string" && value !== undefined ? { type: "data", field, value } : undefined;
};
