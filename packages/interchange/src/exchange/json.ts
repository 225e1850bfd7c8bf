import type { Json, JsonObject } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";

/** Returns whether a value is a JSON object: not a list, null or a scalar. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns an object without these members. */
export const without = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

/** Returns the non-empty members: neither undefined nor null, nor an empty list or object. */
export const presentOf = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== undefined && value !== null && (typeof value !== "object" || !isEmpty(value)),
    ),
  );

/** Returns the members that are not undefined. */
export const defined = <Given extends object>(object: Given): Defined<Given> =>
  // Its members are those of the type.
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<Given>;

type Defined<Given> = {
  [Name in keyof Given as undefined extends Given[Name] ? never : Name]: Given[Name];
} & { [Name in keyof Given as undefined extends Given[Name] ? Name : never]?: Exclude<Given[Name], undefined> };

/** Returns whether an object or a list has no members. */
export const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** Parses a text as JSON; returns undefined if it is invalid or would change in a round trip. */
export const parsedJson = (text: string): Json | undefined => {
  try {
    const plain = plainJson(JSON.parse(text));
    return Either.isRight(plain) ? plain.right : undefined;
  } catch {
    return undefined;
  }
};

/** Returns the beginning of a value's JSON, for an error message. Never throws. */
export const excerpt = (value: unknown): string => {
  try {
    const text = JSON.stringify(value) ?? String(value);
    return text.length > excerptLength ? `${text.slice(0, excerptLength)}…` : text;
  } catch {
    return `a ${typeof value} that has no JSON`;
  }
};

const excerptLength = 200;

/**
 * Converts a value to plain JSON, or returns why it cannot. JavaScript objects with a JSON form are converted: a URL
 * to its text, bytes to `{ bytes: base64 }`. Members that are undefined are left out.
 */
export const plainJson = (value: unknown): Either.Either<string, Json> => {
  const copy = plainCopy(value, mostNested, jsonFormOf);
  // A plain copy is JSON.
  return copy instanceof NotPlain ? Either.left(describeValueProblem(copy.problem, "it")) : Either.right(copy as Json);
};

/** Below the limit of 256 for journals, because a thread's entries wrap a value in a few levels. */
const mostNested = 200;

const jsonFormOf = (object: object): unknown => {
  if (Array.isArray(object))
    return object.includes(undefined) ? Array.from(object, (member: unknown) => member ?? null) : object;
  if (object instanceof Uint8Array) return { bytes: base64Of(object) };
  if (object instanceof ArrayBuffer) return { bytes: base64Of(new Uint8Array(object)) };
  return isUrl(object) ? object.href : object;
};

/**
 * Returns whether a value is a `URL` of any realm. It checks the members, since this package does not depend on a
 * platform's types.
 */
const isUrl = (value: object): value is { readonly href: string } =>
  Object.prototype.toString.call(value) === "[object URL]" && "href" in value && typeof value.href === "string";

/** Converts bytes to base64 with padding, without a platform's function. */
export const base64Of = (bytes: Uint8Array): string => {
  let text = "";
  let held = 0;
  let bits = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    for (bits += 8; bits >= 6; bits -= 6) text += letter(held >> (bits - 6));
  }
  if (bits > 0) text += letter(held << (6 - bits));
  return text.padEnd(Math.ceil(bytes.length / 3) * 4, "=");
};

const letter = (bits: number): string => alphabet.charAt(bits & 63);

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
