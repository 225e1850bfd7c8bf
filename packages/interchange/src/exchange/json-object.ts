import type { JsonObject } from "@colloquy/machine";

/** Returns whether a value is a JSON object: not a list, null or a scalar. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns an object without these members. */
export const without = (object: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));

/** Returns the beginning of a value's JSON, for an error message. */
export const excerpt = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > excerptLength ? `${text.slice(0, excerptLength)}…` : text;
};

const excerptLength = 200;
