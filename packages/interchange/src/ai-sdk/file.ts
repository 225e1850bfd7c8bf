import type { JsonObject, ContentPart, ImagePart, OpaquePart, Part } from "@colloquy/machine";
import { type AiOptions, fieldsOfOptions, optionsOf } from "./provider-options.ts";
import { defined, isEmpty, isJsonObject } from "../exchange/json.ts";
import type { Lose } from "../exchange/reading.ts";

/** A file of the AI SDK: its place and type, before it is written in one of the SDK's formats. */
export interface AiFile {
  /** A whole media type, or only its first half, such as for an image of an unknown kind. */
  readonly mediaType: string;
  /** A URL, or a `data:` URL. */
  readonly url?: string;
  /** The provider's own id of the file, by provider. */
  readonly reference?: JsonObject;
  readonly filename?: string;
  readonly options?: AiOptions | undefined;
}

/**
 * Returns the file of a part: an image with a URL, or a file or sound in the form of chat completions; undefined for
 * other parts.
 */
export const aiFileOf = (part: Part): AiFile | undefined => {
  if (part.type === "image") return fileOfImage(part);
  return part.type === "opaque" ? fileOfOpaque(part.value) : undefined;
};

/** Returns the part for a file of the SDK; undefined if only the SDK can hold it. */
export const partOfAiFile = (
  { mediaType, url, reference, filename, options }: AiFile,
  lose: Lose,
): ContentPart | undefined => {
  const { own, provider } = fieldsOfOptions(options);
  if (url === undefined) {
    const { openai: id, ...others } = reference ?? {};
    const known = typeof id === "string" && isEmpty(others) && mediaType === unknownType;
    return known && provider === undefined ? fileWith({ ...defined({ filename }), file_id: id }) : undefined;
  }
  if (own["image"] === true || /^image(\/|$)/.test(mediaType)) {
    if (provider !== undefined) return undefined;
    if (filename !== undefined) lose("filename", `the file name "${filename}"`, "an image is known by its URL only");
    if (own["image"] !== true && !impliedTypes(url).includes(mediaType))
      lose("mediaType", `the media type "${mediaType}"`, "an image is known by its URL only");
    return { type: "image", url, ...(typeof own["detail"] === "string" ? { detail: own["detail"] } : {}) };
  }
  if (provider !== undefined || typeOfDataUrl(url) !== mediaType) return undefined;
  return (filename === undefined ? soundOf(url) : undefined) ?? fileWith({ ...defined({ filename }), file_data: url });
};

/** Reads a file from its data in the SDK: a URL, a reference, or bytes in base64. */
export const aiFileIn = (
  { url, reference, data, bytes }: JsonObject,
  mediaType: string,
  filename: string | undefined,
): AiFile | undefined => {
  const named = defined({ filename });
  if (typeof url === "string") return { mediaType, url, ...named };
  if (isJsonObject(reference)) return { mediaType, reference, ...named };
  const given = isJsonObject(data) ? data["bytes"] : (data ?? bytes);
  if (typeof given !== "string") return undefined;
  const found = isUrlText(given) ? given : dataUrlOf(given, mediaType);
  return found === undefined ? undefined : { mediaType: typeOfDataUrl(found) ?? mediaType, url: found, ...named };
};

/** Returns base64 bytes as a `data:` URL; undefined if their type is unknown. */
const dataUrlOf = (base64: string, mediaType: string): string | undefined => {
  const type = mediaType.includes("/") && !mediaType.endsWith("/*") ? mediaType : typeBegunBy(base64);
  return type === undefined ? undefined : `data:${type};base64,${base64}`;
};

/** Returns whether a text is a URL and not base64 bytes. */
const isUrlText = (text: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(text);

/** Returns the media type of a base64 `data:` URL; undefined for other URLs. */
export const typeOfDataUrl = (url: string): string | undefined => /^data:([^,;]+)(?:;[^,;]*)*;base64,/i.exec(url)?.[1];

const fileOfImage = ({ url, detail }: ImagePart): AiFile | undefined => {
  const type = typeOfDataUrl(url);
  if (!isUrlText(url) || (url.startsWith("data:") && type === undefined)) return undefined;
  const mediaType = type ?? "image";
  const own = { detail, ...(/^image(\/|$)/.test(mediaType) ? {} : { image: true }) };
  return { mediaType, url, options: optionsOf(undefined, own) };
};

const fileOfOpaque = (value: JsonObject): AiFile | undefined => {
  const { type, file, input_audio: sound, ...rest } = value;
  if (!isEmpty(rest)) return undefined;
  if (type === "input_audio" && isJsonObject(sound)) return fileOfSound(sound);
  if (type !== "file" || !isJsonObject(file)) return undefined;
  const { filename, file_data: data, file_id: id, ...others } = file;
  if (!isEmpty(others) || (filename !== undefined && typeof filename !== "string")) return undefined;
  if (typeof id === "string" && data === undefined)
    return { mediaType: unknownType, reference: { openai: id }, ...defined({ filename }) };
  const mediaType = typeof data === "string" && id === undefined ? typeOfDataUrl(data) : undefined;
  if (typeof data !== "string" || mediaType === undefined || /^image(\/|$)/.test(mediaType)) return undefined;
  return { mediaType, url: data, ...defined({ filename }) };
};

const fileOfSound = ({ data, format, ...rest }: JsonObject): AiFile | undefined => {
  const mediaType = format === "wav" ? "audio/wav" : format === "mp3" ? "audio/mpeg" : undefined;
  if (typeof data !== "string" || mediaType === undefined || !isEmpty(rest)) return undefined;
  return { mediaType, url: `data:${mediaType};base64,${data}` };
};

const soundOf = (url: string): OpaquePart | undefined => {
  const [, subtype, data] = /^data:audio\/(wav|mpeg);base64,([^]*)$/.exec(url) ?? [];
  if (data === undefined) return undefined;
  const sound = { data, format: subtype === "wav" ? "wav" : "mp3" };
  return { type: "opaque", value: { type: "input_audio", input_audio: sound } };
};

const fileWith = (file: JsonObject): OpaquePart => ({ type: "opaque", value: { type: "file", file } });

/** Returns the media types that tell no more about an image than its URL does. */
const impliedTypes = (url: string): readonly (string | undefined)[] => [typeOfDataUrl(url), "image", "image/*"];

/** Detects the type by the first bytes, which always give the same base64 letters. */
const typeBegunBy = (base64: string): string | undefined => signatures.find(([start]) => base64.startsWith(start))?.[1];

const signatures: readonly (readonly [string, string])[] = [
  ["iVBORw0KGgo", "image/png"],
  ["/9j/", "image/jpeg"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"],
  ["JVBERi0", "application/pdf"],
];

const unknownType = "application/octet-stream";
