import type { Json, JsonObject } from "@colloquy/machine";

/** Returns the part of a schema that a JSON pointer such as `#/$defs/Node` names; undefined if there is none. */
export const placeIn = (root: Json | undefined, reference: string): Json | undefined => {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  return reference
    .split("/")
    .slice(1)
    .map((name) => decoded(name).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<Json | undefined>((at, name) => {
      if (isList(at)) return at[Number(name)];
      return isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
    }, root);
};

const decoded = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
