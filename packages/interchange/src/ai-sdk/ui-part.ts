import type { JsonObject, ContentPart, Part } from "@colloquy/machine";
import { aiFileOf, partOfAiFile } from "./file.ts";
import { ourName, underName } from "./provider-options.ts";
import { aiTextOf } from "./text.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { fieldsFor, foreignPart, foreignValue, presentOf, withoutField } from "../exchange/foreign.ts";
import type { Lose } from "../exchange/loss.ts";
import type { UiFile, UiMessagePart } from "./ui-message.ts";

/**
 * Converts a part to the AI SDK's form for people. Returns none for a call, and for a part that the SDK has no place
 * for.
 */
export const uiPartOf = (part: Part): readonly UiMessagePart[] => {
  const own = foreignValue(part, "ui");
  if (own !== undefined) return typeof own["type"] === "string" ? [{ ...own, type: own["type"] }] : [];
  const provider = "provider" in part ? part.provider : undefined;
  const text = aiTextOf(provider === undefined ? part : withProvider(part, withoutUi(provider)));
  if (text !== undefined) {
    const { citations, id } = fieldsFor(provider, "ui");
    const shown = part.type === "reasoning" ? { id } : part.type === "text" ? { citations } : {};
    return [{ type: text.type, text: text.text, ...presentOf(shown), ...underName("providerMetadata", text.options) }];
  }
  const file = aiFileOf(part);
  if (file === undefined) return [];
  const { mediaType, url = "", reference, filename, options } = file;
  const named = presentOf({ filename, providerReference: reference });
  return [{ type: "file", mediaType, url, ...named, ...underName("providerMetadata", options) }];
};

/** Returns the part for a file, or the file unchanged. */
export const partOfUiFile = (file: UiFile, value: JsonObject, lose: Lose): ContentPart => {
  const { mediaType, url, filename, providerReference: reference, providerMetadata: options } = file;
  const both = url !== "" && reference !== undefined;
  const where = reference === undefined ? { url } : { reference };
  const named = filename === undefined ? {} : { filename };
  const part = both ? undefined : partOfAiFile({ mediaType, ...where, ...named, options }, lose);
  return part ?? foreignPart("ui", value);
};

/** Returns a `provider` without the fields of UI messages, which have their own members there; undefined for none. */
export const withoutUi = (provider: JsonObject | undefined): JsonObject | undefined =>
  provider?.["ui"] === undefined ? provider : withoutField(provider, "ui");

/** Adds our own fields of a message to one of its parts, where an import reads them. */
export const carrying = (part: UiMessagePart, message: JsonObject): UiMessagePart => {
  const { providerMetadata } = part;
  const options = isJsonObject(providerMetadata) ? providerMetadata : {};
  const own = isJsonObject(options[ourName]) ? options[ourName] : {};
  return { ...part, providerMetadata: { ...options, [ourName]: { ...own, message } } };
};

const withProvider = (part: Part, provider: JsonObject | undefined): Part => {
  if (!("provider" in part)) return part;
  const { provider: _, ...rest } = part;
  return provider === undefined ? rest : { ...rest, provider };
};
