import * as z from "zod/mini";
import type { ContentPart, Json, JsonObject } from "@colloquy/machine";
import { aiResult } from "../exchange/foreign.ts";
import { defined, isEmpty, isJsonObject } from "../exchange/json.ts";

/**
 * The provider options (or metadata) of the AI SDK: an object of fields for each provider. Fields of a thread that the
 * SDK has no place for are under `colloquy`, which no provider reads.
 */
export type AiOptions = { readonly [provider: string]: JsonObject };

/** The key of our own fields. */
export const ourName = "colloquy";

/** The schema of incoming options. Each provider's fields are an object. */
export const aiOptions = z.custom<AiOptions>(
  (value) => isJsonObject(value) && Object.values(value).every(isJsonObject),
  "expected an object of fields for each provider",
);

/** Returns the options in a `provider`, with our own fields under our key; undefined for none. */
export const optionsOf = (provider: JsonObject | undefined, own: JsonObject = {}): AiOptions | undefined => {
  const { ai, ...rest } = provider ?? {};
  const options = isForeignOptions(ai) ? ai : undefined;
  const kept = options === undefined ? provider : isEmpty(rest) ? undefined : rest;
  const ours = defined({ ...own, provider: kept });
  const all = { ...options, ...(isEmpty(ours) ? {} : { [ourName]: ours }) };
  return isEmpty(all) ? undefined : all;
};

/** Returns our own fields in the options, and the `provider` that a thread keeps. */
export const fieldsOfOptions = (
  options: AiOptions = {},
): { readonly own: JsonObject; readonly provider?: JsonObject } => {
  const { [ourName]: own = {}, ...ai } = options;
  const kept = isJsonObject(own["provider"]) ? own["provider"] : undefined;
  if (isEmpty(ai)) return { own, ...defined({ provider: kept }) };
  return { own, provider: { ...kept, ai } };
};

/** Returns the content of a result with the result's options stored in its first text; undefined if it has no text. */
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

/** Returns a result's content without the stored options, and the options. */
export const resultOptionsIn = (
  content: readonly ContentPart[],
): { readonly content: readonly ContentPart[]; readonly options: AiOptions | undefined } => {
  const marked = content.find((part) => part.type === "text" && part.provider?.[aiResult] !== undefined);
  if (marked?.type !== "text") return { content, options: undefined };
  const { provider, ...text } = marked;
  const { [aiResult]: options, ...others } = provider ?? {};
  const plain: ContentPart = isEmpty(others) ? text : { ...text, provider: others };
  return {
    content: content.map((part) => (part === marked ? plain : part)),
    options: isForeignOptions(options) ? options : undefined,
  };
};

/**
 * Returns a member with options under the given name (`providerOptions`, `providerMetadata`); nothing if there are
 * none.
 */
export const underName = <Name extends string>(
  name: Name,
  options: AiOptions | undefined,
): { readonly [name in Name]?: AiOptions } =>
  // A computed name has the type of any string.
  (options === undefined ? {} : { [name]: options }) as { readonly [name in Name]?: AiOptions };

const isForeignOptions = (value: Json | undefined): value is AiOptions =>
  isJsonObject(value) && !isEmpty(value) && !(ourName in value) && Object.values(value).every(isJsonObject);
