import type { Json, JsonObject } from "@colloquy/machine";
import { isRecord } from "../boundary/thrown.ts";
import { isObject } from "../tools/schema-problem.ts";

/** A JSON Schema, as far as it is known here. */
type Keywords = Readonly<Record<string, unknown>>;

/** A part of a JSON Schema that strict structured outputs do not support. */
export interface StrictProblem {
  /** The path in the data, such as `items[].price`; empty for the whole. */
  readonly path: string;
  /** The problem, and how to solve it. */
  readonly reason: string;
}

/**
 * Returns the parts of a JSON Schema that the strict mode of OpenAI's structured outputs does not support, with their
 * paths. These are an optional member that does not allow null, a default, a record, a tuple, and a union or a list at
 * the root. An object that allows other members is not a problem: `strictSchema` makes it forbid them. Source: OpenAI,
 * "Supported schemas".
 */
export const strictProblems = (schema: Keywords): readonly StrictProblem[] => {
  const problems: StrictProblem[] = [];
  const root = resolved(schema, schema);
  if (root["anyOf"] !== undefined || root["oneOf"] !== undefined)
    problems.push({ path: "", reason: "it is a union, and the root must be an object; put it into a member" });
  else if (root["type"] !== "object")
    problems.push({ path: "", reason: "the root must be an object; put what it is into a member" });
  const look = (at: unknown, path: string): void => {
    if (!isRecord(at)) {
      if (at === true) problems.push({ path, reason: "it may be anything; say what it is" });
      return;
    }
    problems.push(...ownProblems(at, path));
    const required = new Set(isList(at["required"]) ? at["required"] : []);
    for (const [name, member] of membersOf(at["properties"])) {
      const place = path === "" ? name : `${path}.${name}`;
      if (!required.has(name))
        problems.push({ path: place, reason: "it is optional; require it, and let it be null (nullable)" });
      look(member, place);
    }
    if (isRecord(at["items"])) look(at["items"], `${path}[]`);
    for (const keyword of ["anyOf", "oneOf", "allOf"])
      if (isList(at[keyword])) for (const option of at[keyword]) look(option, path);
    for (const keyword of ["$defs", "definitions"])
      for (const [name, definition] of membersOf(at[keyword])) look(definition, `${keyword}.${name}`);
  };
  look(schema, "");
  return problems;
};

/**
 * Returns a JSON Schema for the strict mode: each object forbids members that it does not name, and `oneOf` becomes
 * `anyOf`.
 */
export const strictSchema = (schema: JsonObject): JsonObject => {
  const members = Object.entries(schema).flatMap(([keyword, value = null]): [string, Json][] => {
    if (keyword === "oneOf") return [["anyOf", strictIn(value)]];
    if (named.includes(keyword)) return [[keyword, eachStrict(value)]];
    return [[keyword, holding.includes(keyword) ? strictIn(value) : value]];
  });
  const strict = Object.fromEntries(members);
  return isOfType(schema, "object") ? { ...strict, additionalProperties: false } : strict;
};

const strictIn = (value: Json): Json => {
  if (Array.isArray(value)) return value.map(strictIn);
  return isObject(value) ? strictSchema(value) : value;
};

const eachStrict = (value: Json): Json =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, schema = null]) => [name, strictIn(schema)]))
    : value;

export const isObjectSchema = (schema: JsonObject): boolean => resolved(schema, schema)["type"] === "object";

/** Keywords that hold schemas by name, and keywords that hold one schema or a list of them. */
const named: readonly string[] = ["properties", "$defs", "definitions"];
const holding: readonly string[] = ["items", "anyOf", "allOf"];

const ownProblems = (schema: Keywords, path: string): readonly StrictProblem[] => {
  const problems: StrictProblem[] = [];
  const problem = (reason: string): void => void problems.push({ path, reason });
  if (schema["default"] !== undefined) problem("it has a default, which the server refuses; leave it out");
  const { additionalProperties: others } = schema;
  if ((others !== undefined && others !== false) || schema["patternProperties"] !== undefined)
    problem("it is a record, with members of any name; use a list of objects with a name and a value");
  if (schema["prefixItems"] !== undefined || isList(schema["items"]))
    problem("it is a tuple; use an object with a member for each place");
  if (schema["allOf"] !== undefined) problem("it is an intersection; use one object that has all members");
  if (schema["not"] !== undefined || schema["if"] !== undefined) problem("it is a condition, which is not supported");
  if (keywordsOfKind.every((keyword) => schema[keyword] === undefined)) problem("it may be anything; say what it is");
  return problems;
};

/** Keywords of which any one restricts a value. */
const keywordsOfKind = ["type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref"] as const;

/** Resolves a root that is a reference into itself, as in a recursive schema. */
const resolved = (schema: Keywords, root: Keywords): Keywords => {
  const { $ref: reference } = schema;
  const [, keyword, name] =
    (typeof reference === "string" ? /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) : null) ?? [];
  const found = membersOf(root[keyword ?? ""]).find(([each]) => each === name)?.[1];
  return isRecord(found) ? found : schema;
};

const isOfType = ({ type }: JsonObject, name: string): boolean =>
  type === name || (isList(type) && type.includes(name));

const membersOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  isRecord(value) ? Object.entries(value) : [];

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
