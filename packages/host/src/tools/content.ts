import type { Content, ContentPart } from "@colloquy/machine";
import { decodeEvent } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { messageOf } from "../boundary/thrown.ts";

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
  return partsIn(value, text) ?? text;
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

/**
 * Read back from the text, parts are a copy that no other code can change. They are parts if a journal can hold them as
 * such: what only looks like some is shown as JSON.
 */
const partsIn = (value: unknown, text: string): readonly ContentPart[] | null => {
  if (!Array.isArray(value) || value.length === 0 || !value.every(hasType)) return null;
  const read = decodeEvent({ type: "tool.completed", at: 0, effectId: "", content: JSON.parse(text) as unknown });
  if (Either.isLeft(read) || read.right.type !== "tool.completed") return null;
  return typeof read.right.content === "string" ? null : read.right.content;
};

const hasType = (value: unknown): boolean => typeof value === "object" && value !== null && "type" in value;
