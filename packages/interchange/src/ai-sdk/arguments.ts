import * as Either from "fp-ts/lib/Either.js";
import type { Json, JsonObject } from "@colloquy/machine";
import { plainJson } from "../exchange/plain-json.ts";

/**
 * A call's arguments as the AI SDK holds them: parsed. The exact string is kept beside them where they are not the JSON
 * that it would be written as, or no JSON at all.
 */
export const inputOf = (given: string): { readonly input: Json; readonly own: JsonObject } => {
  const parsed = parsedJson(given);
  if (parsed === undefined) return { input: given, own: { arguments: given } };
  return { input: parsed, own: JSON.stringify(parsed) === given ? {} : { arguments: given } };
};

/** The string that a model wrote, or would have. */
export const argumentsOf = (input: Json | undefined, own: JsonObject): string =>
  typeof own["arguments"] === "string" ? own["arguments"] : JSON.stringify(input ?? (input === null ? null : {}));

/** A text as JSON; undefined when it is none that stays what it is. */
export const parsedJson = (text: string): Json | undefined => {
  try {
    const plain = plainJson(JSON.parse(text));
    return Either.isRight(plain) ? plain.right : undefined;
  } catch {
    return undefined;
  }
};
