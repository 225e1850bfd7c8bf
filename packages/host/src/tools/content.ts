import type { Content, ContentPart } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy, wellFormed } from "@colloquy/machine/hosting";
import { decodeEvent } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { messageOf } from "../boundary/thrown.ts";

/**
 * Returns the content that a model reads for a tool's return value: a string unchanged; null and undefined as an empty
 * result; a list of content parts as those parts; anything else as its JSON text.
 *
 * @throws TypeError for a value that JSON would change or cannot express, at any depth: NaN, a BigInt, a function, a
 * Map, an instance of a class without `toJSON`, undefined in a list, a circular value.
 */
export const contentOf = (value: unknown): Content | null => {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return null;
  const text = jsonOf(value);
  return partsIn(value, text) ?? text;
};

const jsonOf = (value: unknown): string => {
  let copy: unknown;
  try {
    copy = plainCopy(value, levelsMax, asJson);
  } catch (thrown) {
    // Getters may throw.
    throw notJson(messageOf(thrown));
  }
  if (copy instanceof NotPlain) throw notJson(describeValueProblem(copy.problem, "it"));
  // Half of a surrogate pair would become an escape that a model, or a server that reads the JSON, cannot decode.
  return JSON.stringify(wellFormed(copy));
};

/** Returns the JSON of an object that has a `toJSON`, such as a date or a URL. JSON would write an invalid date as null. */
const asJson = (object: object): unknown => {
  if (!("toJSON" in object) || typeof object.toJSON !== "function") return object;
  const json: unknown = Reflect.apply(object.toJSON, object, []);
  return json === null && Object.prototype.toString.call(object) === "[object Date]" ? Number.NaN : json;
};

/** How deep a result may be nested: deeper nesting overflows the stack of code that reads it. */
const levelsMax = 256;

const notJson = (why: string): TypeError =>
  new TypeError(`what it returned can't be written as JSON: ${why}; return a string or plain JSON, or throw an error`);

/**
 * Returns the content parts in a value. Parsed from the text, they are a copy that no other code can change. They count
 * as parts only if a journal can hold them; other lists are shown as JSON.
 */
const partsIn = (value: unknown, text: string): readonly ContentPart[] | null => {
  if (!Array.isArray(value) || value.length === 0 || !value.every(hasType)) return null;
  const read = decodeEvent({ type: "tool.completed", at: 0, effectId: "", content: JSON.parse(text) as unknown });
  if (Either.isLeft(read) || read.right.type !== "tool.completed") return null;
  return typeof read.right.content === "string" ? null : read.right.content;
};

const hasType = (value: unknown): boolean => typeof value === "object" && value !== null && "type" in value;
