import * as z from "zod/mini";
import type { ContentPart, Json, JsonObject } from "@colloquy/machine";
import { aiResult } from "../exchange/foreign.ts";
import { isJsonObject } from "../exchange/json-object.ts";

/**
 * What the AI SDK calls provider options (or metadata): an object of fields for each provider. Fields of a thread that the
 * SDK has no place for stand under `colloquy`, which no provider reads.
 */
export type AiOptions = { readonly [provider: string]: JsonObject };

/** The name under which they hold what is ours. */
export const ourName = "colloquy";

/** Options as they come in. Each provider's fields are an object. */
export const aiOptions = z.custom<AiOptions>(
  (value) => isJsonObject(value) && Object.values(value).every(isJsonObject),
  "expected an object of fields for each provider",
);

/** The options that a `provider` holds, with our own fields under their name; undefined for none. */
export const optionsOf = (provider: JsonObject | undefined, own: JsonObject = {}): AiOptions | undefined => {
  const { ai, ...rest } = provider ?? {};
  const options = isForeignOptions(ai) ? ai : undefined;
  const others = options === undefined ? provider : rest;
  // A provider that had nothing but options has nothing else to be kept.
  const kept = options !== undefined && Object.keys(rest).length === 0 ? undefined : others;
  const ours = present({ ...own, provider: kept });
  const all = { ...options, ...(Object.keys(ours).length === 0 ? {} : { [ourName]: ours }) };
  return Object.keys(all).length === 0 ? undefined : all;
};

/** What options say: our own fields, and the `provider` that a thread keeps. */
export const fieldsOfOptions = (
  options: AiOptions | undefined,
): { readonly own: JsonObject; readonly provider?: JsonObject } => {
  const { [ourName]: own = {}, ...others } = options ?? {};
  const kept = isJsonObject(own["provider"]) ? own["provider"] : undefined;
  const ai = Object.keys(others).length === 0 ? undefined : others;
  return kept === undefined && ai === undefined
    ? { own }
    : { own, provider: { ...kept, ...(ai === undefined ? {} : { ai }) } };
};

/** The content of a result whose first text holds the options of the result; undefined if no text can hold them. */
export const withResultOptions = (
  content: string | readonly ContentPart[],
  options: AiOptions,
): readonly ContentPart[] | undefined => {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  const first = parts.find((part) => part.type === "text");
  if (first === undefined) return undefined;
  const marked = { ...first, provider: { ...first.provider, [aiResult]: options } };
  return parts.map((part) => (part === first ? marked : part));
};

/** A result's content without the options of the result itself, and those. */
export const resultOptionsIn = (
  content: readonly ContentPart[],
): { readonly content: readonly ContentPart[]; readonly options: AiOptions | undefined } => {
  const marked = content.find((part) => part.type === "text" && part.provider?.[aiResult] !== undefined);
  if (marked?.type !== "text") return { content, options: undefined };
  const { provider, ...text } = marked;
  const { [aiResult]: options, ...others } = provider ?? {};
  const plain: ContentPart = Object.keys(others).length === 0 ? text : { ...text, provider: others };
  return {
    content: content.map((part) => (part === marked ? plain : part)),
    options: isForeignOptions(options) ? options : undefined,
  };
};

/** A member with options under the name that it has there (`providerOptions`, `providerMetadata`); nothing for none. */
export const underName = <Name extends string>(
  name: Name,
  options: AiOptions | undefined,
): { readonly [name in Name]?: AiOptions } =>
  // A computed name has the type of any string.
  (options === undefined ? {} : { [name]: options }) as { readonly [name in Name]?: AiOptions };

const isForeignOptions = (value: Json | undefined): value is AiOptions =>
  isJsonObject(value) &&
  Object.keys(value).length > 0 &&
  !(ourName in value) &&
  Object.values(value).every(isJsonObject);

const present = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
