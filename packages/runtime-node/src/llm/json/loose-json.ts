import type { Json, JsonObject } from "@colloquy/machine";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const listOf = (value: unknown): readonly Json[] => (isList(value) ? value : []);

/** Returns the objects of a list, of a map (each with its key as a member), or the one that is there instead of a list. */
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

export const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

export const isText = (value: Json | undefined): value is string => typeof value === "string" && value !== "";

/** Returns the value of a JSON text; undefined for any other text. */
export const parseJson = (text: string): Json | undefined => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

/** Returns a part of a URI without its escapes; the part itself if they are invalid. */
export const decoded = (part: string): string => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

/** Returns the object without its members that are undefined. */
export const defined = <Given extends object>(object: Given): Defined<Given> =>
  // Its members are those of the type.
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<Given>;

type Defined<Given> = {
  [Name in keyof Given as undefined extends Given[Name] ? never : Name]: Given[Name];
} & { [Name in keyof Given as undefined extends Given[Name] ? Name : never]?: Exclude<Given[Name], undefined> };
