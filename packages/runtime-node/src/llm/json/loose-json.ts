import type { Json, JsonObject } from "@colloquy/machine";

/** Reading JSON of which nothing is certain: a value of another kind is as good as none. */

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): readonly Json[] => (isList(value) ? value : []);

/** The objects of a list, of a map (each with its key under the name that is given), or the one that stands for a list. */
export const objectsIn = (
  value: unknown,
  members: readonly string[],
  key: (key: string) => string,
): readonly JsonObject[] => {
  if (!isObject(value)) return listOf(value).filter(isObject);
  if (members.some((member) => member in value)) return [value];
  return Object.entries(value).flatMap(([name, each]) => (isObject(each) ? [{ [key(name)]: name, ...each }] : []));
};

export const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

/** A string, or "" in place of anything else. */
export const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** A string that is not empty. */
export const isText = (value: Json | undefined): value is string => typeof value === "string" && value !== "";

/** The value of a JSON text, undefined for a text that is none. */
export const parseJson = (text: string): Json | undefined => {
  try {
    // What JSON.parse returns is JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};
