import type { DataPart, Json, JsonObject, Part, ReasoningPart, RefusalPart, TextPart } from "@colloquy/machine";
import { isJsonObject, parsedJson } from "../exchange/json.ts";
import { dataText } from "../exchange/reading.ts";
import { type AiOptions, fieldsOfOptions, optionsOf, underName } from "./provider-options.ts";

/** A text or reasoning of the AI SDK, before its options get their name in the SDK. */
interface AiText {
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
      return { type: "text", text: dataText(field, value), options: optionsOf(undefined, { data: { field, value } }) };
    }
    default:
      return undefined;
  }
};

/** Converts a part to a text or reasoning for models, with its options. */
export const modelTextOf = (part: Part): JsonObject | undefined => {
  const found = aiTextOf(part);
  if (found === undefined) return undefined;
  const { options, ...text } = found;
  return { ...text, ...underName("providerOptions", options) };
};

/** Returns the part for a text of the SDK. */
export const partOfAiText = (text: string, options: AiOptions | undefined): TextPart | DataPart => {
  const { own, ...kept } = fieldsOfOptions(options);
  const { data } = own;
  const { field, value } = isJsonObject(data) ? data : {};
  return typeof field === "string" && value !== undefined
    ? { type: "data", field, value }
    : { type: "text", text, ...kept };
};

/** Returns the part for a model's text, which may also be a refusal. */
export const replyPartOfAiText = (text: string, options: AiOptions | undefined): TextPart | DataPart | RefusalPart => {
  const { own, ...kept } = fieldsOfOptions(options);
  return own["refusal"] === true ? { type: "refusal", text, ...kept } : partOfAiText(text, options);
};

/** Returns the SDK's reasoning, with the signatures in its options. */
export const reasoningOfAi = (text: string, options: AiOptions | undefined): ReasoningPart => {
  const { own: _, ...kept } = fieldsOfOptions(options);
  return { type: "reasoning", text, ...kept };
};

/**
 * Returns a call's arguments as the AI SDK holds them, parsed. The exact string is kept beside them if it is not JSON,
 * or if writing them again would give another string.
 */
export const inputOf = (given: string): { readonly input: Json; readonly own: JsonObject } => {
  const input = parsedJson(given);
  const own = JSON.stringify(input) === given ? {} : { arguments: given };
  return { input: input === undefined ? given : input, own };
};

/** Returns the exact string that a model wrote, or the JSON of the arguments. */
export const argumentsOf = (input: Json | undefined, own: JsonObject): string =>
  typeof own["arguments"] === "string" ? own["arguments"] : JSON.stringify(input === undefined ? {} : input);
