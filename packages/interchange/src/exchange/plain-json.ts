import * as Either from "fp-ts/lib/Either.js";
import type { Json } from "@colloquy/machine";

/**
 * Converts a value to plain JSON, or returns why it cannot. JavaScript objects with a JSON form are converted: a URL
 * to its text, bytes to `{ bytes: base64 }`. Members that are undefined are left out.
 */
export const plainJson = (value: unknown): Either.Either<string, Json> => plain(value, "", mostNested);

/** Below the limit of 256 for journals, because a thread's entries wrap a value in a few levels. */
const mostNested = 200;

const plain = (value: unknown, path: string, levels: number): Either.Either<string, Json> => {
  if (value === null || typeof value === "string" || typeof value === "boolean") return Either.right(value);
  if (typeof value === "number") {
    // JSON has no -0.
    if (Number.isFinite(value)) return Either.right(value === 0 ? 0 : value);
    return Either.left(`${at(path)} is ${value}, which JSON has no word for`);
  }
  if (typeof value !== "object") return Either.left(`${at(path)} is a ${typeof value}`);
  if (levels === 0) return Either.left(`it is nested more than ${mostNested} levels deep`);
  if (Array.isArray(value)) return plainList(value, path, levels);
  if (value instanceof Uint8Array) return Either.right({ bytes: base64Of(value) });
  if (value instanceof ArrayBuffer) return Either.right({ bytes: base64Of(new Uint8Array(value)) });
  if (isUrl(value)) return Either.right(value.href);
  return plainObject(value, path, levels);
};

const plainList = (list: readonly unknown[], path: string, levels: number): Either.Either<string, Json> => {
  const read: Json[] = [];
  for (const [index, member] of list.entries()) {
    const inner = plain(member === undefined ? null : member, `${path}.${index}`, levels - 1);
    if (Either.isLeft(inner)) return inner;
    read.push(inner.right);
  }
  return Either.right(read);
};

const plainObject = (object: object, path: string, levels: number): Either.Either<string, Json> => {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null)
    return Either.left(`${at(path)} is an instance of a class; give its JSON`);
  const read: { [key: string]: Json } = {};
  for (const [key, member] of Object.entries(object)) {
    if (key === "__proto__")
      return Either.left(`${at(path)} has a member "__proto__", which JavaScript objects do not keep`);
    if (member === undefined) continue;
    const inner = plain(member, `${path}.${key}`, levels - 1);
    if (Either.isLeft(inner)) return inner;
    read[key] = inner.right;
  }
  return Either.right(read);
};

const at = (path: string): string => (path === "" ? "it" : path.slice(1));

/**
 * Returns whether a value is a `URL` of any realm. It checks the members, since this package does not depend on a
 * platform's types.
 */
const isUrl = (value: object): value is { readonly href: string } =>
  !Array.isArray(value) &&
  Object.prototype.toString.call(value) === "[object URL]" &&
  "href" in value &&
  typeof value.href === "string";

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
