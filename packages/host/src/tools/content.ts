import type { Content, ContentPart } from "@colloquy/machine";
import { messageOf } from "../thrown.ts";

/**
 * What a model reads of a tool's return value: a string as it is; null and undefined as an empty result; a list
 * of content parts as those parts; anything else as its JSON text.
 *
 * @throws TypeError for what has no JSON: a circular value, a BigInt, a function, a symbol.
 */
export const contentOf = (value: unknown): Content | null => {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return null;
  const text = jsonOf(value);
  // Read back from the text, the parts are a copy that nobody else can change, and are plain JSON.
  return isParts(value) ? (JSON.parse(text) as readonly ContentPart[]) : text;
};

const jsonOf = (value: unknown): string => {
  let text: string | undefined;
  try {
    // The built-in type leaves out that functions and symbols come out as undefined.
    text = JSON.stringify(value) as string | undefined;
  } catch (thrown) {
    throw notJson(messageOf(thrown));
  }
  if (text === undefined) throw notJson(`it is a ${typeof value}`);
  return text;
};

const notJson = (why: string): TypeError =>
  new TypeError(`what it returned can't be written as JSON (${why}); it should return a string or plain JSON`);

const isParts = (value: unknown): value is readonly ContentPart[] =>
  Array.isArray(value) && value.length > 0 && value.every(isPart);

const isPart = (value: unknown): value is ContentPart => {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  switch (value.type) {
    case "text":
      return "text" in value && typeof value.text === "string";
    case "data":
      return "field" in value && typeof value.field === "string" && "value" in value;
    case "image":
      return "url" in value && typeof value.url === "string";
    case "opaque":
      return "value" in value && typeof value.value === "object" && value.value !== null;
    default:
      return false;
  }
};
