import type { JsonObject } from "@colloquy/machine";

/** A JSON object, which a value parsed from JSON is unless it is a list, null or a scalar. */
export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The beginning of a value's JSON, for a message that names it. */
export const excerpt = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > excerptLength ? `${text.slice(0, excerptLength)}…` : text;
};

const excerptLength = 200;
