import * as Either from "fp-ts/lib/Either.js";
import type { Json, JsonObject } from "@colloquy/machine";
import { plainJson } from "../exchange/plain-json.ts";

/**
 * Returns a call's arguments as the AI SDK holds them, parsed. The exact string is kept beside them if it is not JSON,
 * or if writing them again would give another string.
 */
export const inputOf = (given: string): { readonly input: Json; readonly own: JsonObject } => {
  const parsed = parsedJson(given);
  if (parsed === undefined) return { input: given, own: { arguments: given } };
  return { input: parsed, own: JSON.stringify(parsed) === given ? {} : { arguments: given } };
};

/** Returns the exact string that a model wrote, or the JSON of the arguments. */
export const argumentsOf = (input: Json | undefined, own: JsonObject): string =>
  typeof own["arguments"] === "string" ? own["arguments"] : JSON.stringify(input ?? (input === null ? null : {}));

/** Parses a text as JSON; returns undefined if it is invalid or would change in a round trip. */
export const parsedJson = (text: string): Json | undefined => {
  try {
    const plain = plainJson(JSON.parse(text));
    return Either.isRight(plain) ? plain.right : undefined;
  } catch {
    return undefined;
  }
};
