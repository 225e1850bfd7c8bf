import type { JsonObject, ContentPart, ImagePart, OpaquePart, Part, RefusalPart } from "@colloquy/machine";
import { isJsonObject } from "../exchange/json-object.ts";
import { fieldsFor, foreignPart, foreignValue, presentOf, providerOf } from "../exchange/foreign.ts";
import { onlyText } from "../exchange/reply-draft.ts";
import { type ItemContent, textTypes } from "./item.ts";
import { fieldsOf } from "./order.ts";

/**
 * Converts parts to input content: a plain text as a string, otherwise a list of parts. Parts without a form there are
 * left out.
 */
export const inputContent = (parts: readonly Part[]): ItemContent => plainOr(parts.flatMap(inputPart));

/** Returns a single text without other fields as a string; an empty text if there are no parts. */
export const plainOr = (parts: readonly JsonObject[]): ItemContent =>
  parts.length === 0 ? "" : (onlyText(parts.map(presentOf), textTypes) ?? parts);

/** Converts a part of a model's reply; none for a part with its own item, or without a form there. */
export const outputPart = (part: Part): readonly JsonObject[] => {
  if (part.type === "text") return [outputText(part.text, fieldsOf(part))];
  if (part.type === "data") return [outputText(dataText(part.field, part.value), {})];
  return part.type === "refusal" ? [{ type: "refusal", refusal: part.text, ...fieldsOf(part) }] : [];
};

/** Converts the content of a message or an output to a thread's. */
export const contentOfItem = (content: ItemContent): string | readonly ContentPart[] => {
  if (typeof content === "string") return content;
  return content.map(contentPart);
};

/** Converts the content of a model's message, which may also hold refusals. */
export const replyContentOfItem = (content: ItemContent): readonly (ContentPart | RefusalPart)[] => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.map((part) => refusalOf(part) ?? contentPart(part));
};

const inputPart = (part: Part): readonly JsonObject[] => {
  switch (part.type) {
    case "text":
      return [{ type: "input_text", text: part.text, ...fieldsFor(part.provider, "responses") }];
    case "data":
      return [{ type: "input_text", text: dataText(part.field, part.value) }];
    case "image":
      return [
        { type: "input_image", image_url: part.url, ...(part.detail === undefined ? {} : { detail: part.detail }) },
      ];
    case "opaque":
      return opaqueInput(part);
    default:
      return [];
  }
};

/** Files and sound are kept in the form of chat completions, which both APIs accept. */
const opaqueInput = (part: OpaquePart): readonly JsonObject[] => {
  const own = foreignValue(part, "responses");
  if (own !== undefined) return [own];
  const { type, file, ...rest } = part.value;
  if (type === "file" && isJsonObject(file) && Object.keys(rest).length === 0) return [{ type: "input_file", ...file }];
  return type === "input_audio" ? [part.value] : [];
};

const outputText = (text: string, fields: JsonObject): JsonObject => ({
  type: "output_text",
  text,
  annotations: [],
  ...fields,
});

const dataText = (field: string, value: unknown): string => `${field}: ${JSON.stringify(value)}`;

const contentPart = (part: JsonObject): ContentPart => {
  const { type, text, ...rest } = part;
  if (textTypes.includes(type) && typeof text === "string")
    return { type: "text", text, ...providerOf({ responses: presentOf(rest) }) };
  return (
    imageOf(part) ??
    fileOf(part) ??
    (type === "input_audio" ? { type: "opaque", value: part } : foreignPart("responses", part))
  );
};

/** Reads an image with only a URL and a detail. */
const imageOf = (part: JsonObject): ImagePart | undefined => {
  const { type, image_url: url, detail, ...rest } = presentOf(part);
  if (type !== "input_image" || typeof url !== "string" || Object.keys(rest).length > 0) return undefined;
  if (typeof detail === "string") return { type: "image", url, detail };
  return detail === undefined ? { type: "image", url } : undefined;
};

const fileOf = (part: JsonObject): OpaquePart | undefined => {
  const { type, ...file } = presentOf(part);
  const known = Object.keys(file).every((key) => ["filename", "file_data", "file_id"].includes(key));
  return type === "input_file" && known ? { type: "opaque", value: { type: "file", file } } : undefined;
};

const refusalOf = (part: JsonObject): RefusalPart | undefined => {
  const { type, refusal, ...rest } = part;
  if (type !== "refusal" || typeof refusal !== "string") return undefined;
  return { type: "refusal", text: refusal, ...providerOf({ responses: presentOf(rest) }) };
};
