import type { Json, JsonObject } from "@colloquy/machine";
import type { SchemaIssue } from "./schema.ts";

/**
 * What a value gets wrong of a JSON Schema, as far as models get things wrong: `type`, `enum`, `const`,
 * `properties`, `required`, `additionalProperties`, `items`, and `anyOf`. Any other keyword passes: a tool that
 * needs more gives a Standard Schema. Total: a schema that is none allows everything.
 */
export const issuesOf = (
  schema: Json | undefined,
  value: Json,
  path: readonly string[] = [],
): readonly SchemaIssue[] => {
  if (schema === false) return [{ path, message: "not expected here" }];
  if (!isObject(schema)) return [];
  const wrong = ownProblem(schema, value);
  if (wrong !== null) return [{ path, message: wrong }];
  return [...membersOf(schema, value, path), ...elementsOf(schema, value, path)];
};

const ownProblem = (schema: JsonObject, value: Json): string | null => {
  const types = typeof schema["type"] === "string" ? [schema["type"]] : textsOf(schema["type"]);
  if (types !== null && !types.some((type) => isOfType(value, type))) {
    return `expected ${types.join(" or ")}, received ${typeOf(value)}`;
  }
  if (isList(schema["enum"]) && !schema["enum"].some((option) => isSame(option, value))) {
    return `expected one of ${schema["enum"].map((option) => JSON.stringify(option)).join(", ")}`;
  }
  if (schema["const"] !== undefined && !isSame(schema["const"], value))
    return `expected ${JSON.stringify(schema["const"])}`;
  if (isList(schema["anyOf"]) && !schema["anyOf"].some((option) => issuesOf(option, value).length === 0)) {
    return "fits none of the alternatives";
  }
  return null;
};

const membersOf = (schema: JsonObject, value: Json, path: readonly string[]): readonly SchemaIssue[] => {
  if (!isObject(value)) return [];
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const missing = (textsOf(schema["required"]) ?? [])
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path: [...path, name], message: "required, but missing" }));
  const members = Object.entries(value).flatMap(([name, member]) => {
    const declared = Object.hasOwn(properties, name) ? properties[name] : schema["additionalProperties"];
    return member === undefined ? [] : issuesOf(declared, member, [...path, name]);
  });
  return [...missing, ...members];
};

const elementsOf = (schema: JsonObject, value: Json, path: readonly string[]): readonly SchemaIssue[] =>
  isList(value) ? value.flatMap((element, index) => issuesOf(schema["items"], element, [...path, String(index)])) : [];

const textsOf = (value: Json | undefined): readonly string[] | null =>
  isList(value) ? value.filter((element) => typeof element === "string") : null;

const isOfType = (value: Json, type: string): boolean =>
  type === "integer" ? Number.isInteger(value) : type === "number" ? typeof value === "number" : typeOf(value) === type;

const typeOf = (value: Json): string => (value === null ? "null" : isList(value) ? "array" : typeof value);

const isSame = (left: Json, right: Json): boolean => JSON.stringify(left) === JSON.stringify(right);

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
