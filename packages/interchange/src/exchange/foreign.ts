import type { Json, JsonObject, ContentPart, OpaquePart, Part } from "@colloquy/machine";
import { isJsonObject } from "./json-object.ts";

/** The formats that have parts and fields which no other has. */
export type ForeignFormat = "responses" | "model" | "ui" | "langchain";

/**
 * A part that only one format knows (a built-in tool's item, a source, a custom part), kept as it came. It goes back to
 * that format, and to no other, not even into a prompt of another API.
 */
export const foreignPart = (format: ForeignFormat, value: JsonObject): OpaquePart => ({
  type: "opaque",
  value: { type: "foreign", format, value },
});

/** What a part holds for a format; undefined when it is none that came from there. */
export const foreignValue = (part: Part, format: ForeignFormat): JsonObject | undefined => {
  if (part.type !== "opaque" || !isForeign(part.value) || part.value["format"] !== format) return undefined;
  return isJsonObject(part.value["value"]) ? part.value["value"] : undefined;
};

/** Whether an opaque value is known to one format only. */
export const isForeign = (value: JsonObject): boolean =>
  value["type"] === "foreign" && typeof value["format"] === "string" && isJsonObject(value["value"]);

/** Whether any of a draft's parts came from a format that alone knows it. */
export const hasForeign = (content: string | readonly { readonly type: string }[] | undefined): boolean =>
  typeof content !== "string" && (content ?? []).some((part) => isOpaque(part) && isForeign(part.value));

/** The member of a call's `provider` that says which part of its message the call stood before. */
export const aiPlace = "aiPlace";

/** The member of the first text of a result that holds the AI SDK's options of the result itself, such as a mark for a cache. */
export const aiResult = "aiResult";

/**
 * The members of a `provider` that are another format's: `responses` (fields of Responses items), `ai` (the AI SDK's
 * `providerOptions`), `aiPlace` (where a call stood in a message of it), `ui` (fields of UI messages), `output` (the type of an
 * AI SDK tool output), `aiResult` (options of its results), `langchain` (fields of its messages).
 */
export const foreignFields: readonly string[] = ["responses", "ai", aiPlace, "ui", "output", aiResult, "langchain"];

/** A `provider` without what belongs to other formats; undefined for none. */
export const ownFields = (provider: JsonObject | undefined): JsonObject | undefined =>
  provider === undefined ? undefined : without(provider, foreignFields);

/** The members of a format in a `provider`; empty when there are none. */
export const fieldsFor = (provider: JsonObject | undefined, format: "responses" | "ui"): JsonObject => {
  const fields = provider?.[format];
  return isJsonObject(fields) ? fields : {};
};

/** A `provider` of these members, those that say nothing left out; nothing at all for none. */
export const providerOf = (fields: JsonObject): { readonly provider?: JsonObject } => {
  const present = presentOf(fields);
  return Object.keys(present).length === 0 ? {} : { provider: present };
};

/** The members that are there: neither undefined nor null, and no empty list or object. */
export const presentOf = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || (typeof value === "object" && Object.keys(value).length === 0);

const without = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

const isOpaque = (part: { readonly type: string }): part is Extract<ContentPart, { readonly type: "opaque" }> =>
  part.type === "opaque";
