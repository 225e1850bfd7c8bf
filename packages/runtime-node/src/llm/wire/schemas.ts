import type { Json, JsonObject } from "@colloquy/machine";
import { isList, isObject } from "../json/loose-json.ts";

/**
 * Returns the schema of a tool's arguments as servers take it: an object at the root, with `properties`, and one schema as the
 * `items` of each list. A union or a reference at the root becomes one object that allows what any of its branches allows. The host checks
 * arguments by the schema that was declared, so nothing is accepted that it does not allow.
 */
export const completedSchema = (schema: JsonObject): JsonObject => {
  const known = completed.get(schema);
  if (known !== undefined) return known;
  const { type: _, $schema: _schema, properties, ...root } = merged(schema, schema, 0);
  const all = isObject(properties) ? properties : {};
  const isSame =
    schema["type"] === "object" && isObject(schema["properties"]) && !("$schema" in schema) && !isUnion(schema);
  const filled = isSame ? schema : { type: "object", properties: all, ...root };
  const whole = withItems(filled);
  completed.set(schema, whole);
  return whole;
};

/** Declarations never change, and go with each request. */
const completed = new WeakMap<JsonObject, JsonObject>();

const unions = ["anyOf", "oneOf", "allOf"] as const;

const isUnion = (schema: JsonObject): boolean =>
  "$ref" in schema || "not" in schema || "enum" in schema || unions.some((union) => union in schema);

/** The root with its branches merged into it: properties of all, required what all of them require. */
const merged = (schema: JsonObject, root: JsonObject, depth: number): JsonObject => {
  if (depth > 8) return {};
  const { $ref, anyOf, oneOf, allOf, not: _, enum: _enum, const: _const, ...own } = schema;
  const target = typeof $ref === "string" ? atPointer(root, $ref) : undefined;
  let whole = isObject(target) ? joined(own, merged(target, root, depth + 1), true) : own;
  for (const part of branches(allOf)) whole = joined(whole, merged(part, root, depth + 1), true);
  for (const union of [branches(anyOf), branches(oneOf)]) {
    const [first, ...others] = union.map((branch) => merged(branch, root, depth + 1));
    if (first === undefined) continue;
    // What is no object in a union can't be an argument.
    whole = joined(
      whole,
      others.reduce((one, other) => joined(one, other, false), first),
      true,
    );
  }
  return whole;
};

const branches = (value: Json | undefined): readonly JsonObject[] => (isList(value) ? value.filter(isObject) : []);

/** Two schemas of objects as one: of both, or of either. */
const joined = (left: JsonObject, right: JsonObject, both: boolean): JsonObject => {
  const { properties: ofLeft = {}, required: neededLeft, additionalProperties: openLeft, ...others } = left;
  const { properties: ofRight = {}, required: neededRight, additionalProperties: openRight, ...more } = right;
  const properties = joinedProperties(isObject(ofLeft) ? ofLeft : {}, isObject(ofRight) ? ofRight : {});
  const first = isList(neededLeft) ? neededLeft : [];
  const second = isList(neededRight) ? neededRight : [];
  const required = both ? [...new Set([...first, ...second])] : first.filter((name) => second.includes(name));
  const open = both ? (openLeft ?? openRight) : openLeft === openRight ? openLeft : undefined;
  return {
    ...more,
    ...others,
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
    ...(open === undefined ? {} : { additionalProperties: open }),
  };
};

const joinedProperties = (left: JsonObject, right: JsonObject): JsonObject => {
  const all: { [name: string]: Json | undefined } = { ...left };
  for (const [name, schema] of Object.entries(right)) {
    const before = Object.hasOwn(all, name) ? all[name] : undefined;
    if (before === undefined) all[name] = schema;
    else if (JSON.stringify(before) !== JSON.stringify(schema))
      all[name] = { anyOf: [...either(before), ...either(schema)] };
  }
  return all;
};

/** A property of several branches is one of a flat list of them. */
const either = (schema: Json | undefined): readonly Json[] => {
  if (isObject(schema) && isList(schema["anyOf"]) && Object.keys(schema).length === 1) return schema["anyOf"];
  return schema === undefined ? [] : [schema];
};

const atPointer = (root: JsonObject, ref: string): Json | undefined =>
  ref
    .replace(/^#\/?/, "")
    .split("/")
    .filter((step) => step !== "")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<Json | undefined>((at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined), root);

/** The same with one schema as the `items` of each list, and an object in the place of `true` and `false`. */
const withItems = (schema: JsonObject): JsonObject => {
  const entries = Object.entries(withOneOfItems(withRequired(schema))).map(
    ([name, value]): [string, Json | undefined] => {
      if (value === undefined) return [name, value];
      if (maps.has(name) && isObject(value))
        return [name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inSchema(each)]))];
      const isSchema = schemas.has(name) || (name === "additionalProperties" && isObject(value));
      return [name, isSchema ? inSchema(value) : value];
    },
  );
  return Object.fromEntries(entries);
};

/** Gemini refuses a name that is required and not a property ("required[0]: property is not defined"). */
const withRequired = (schema: JsonObject): JsonObject => {
  const { required, properties = {}, type } = schema;
  if (!isList(required) || type !== "object" || !isObject(properties)) return schema;
  const missing = required.filter(
    (name): name is string => typeof name === "string" && !Object.hasOwn(properties, name),
  );
  if (missing.length === 0) return schema;
  return { ...schema, properties: { ...properties, ...Object.fromEntries(missing.map((name) => [name, {}])) } };
};

/** A tuple becomes a list of what any of its places allows. */
const withOneOfItems = (schema: JsonObject): JsonObject => {
  const { items, prefixItems, additionalItems, ...others } = schema;
  const places = [items, prefixItems].find(isList);
  if (places === undefined) {
    const isOfList = [schema["type"]].flat().includes("array");
    return isOfList && items === undefined ? { ...schema, items: {} } : schema;
  }
  const rest = [isList(items) ? additionalItems : items].filter(isObject);
  const different = new Map([...places, ...rest].map((each) => [JSON.stringify(each), each]));
  const [only = {}, ...more] = different.values();
  return { ...others, items: more.length === 0 ? only : { anyOf: [only, ...more] } };
};

const inSchema = (value: Json | undefined): Json | undefined => {
  if (isList(value)) return value.map((each) => inSchema(each) ?? null);
  if (typeof value === "boolean") return value ? {} : { not: {} };
  return isObject(value) ? withItems(value) : value;
};

const maps: ReadonlySet<string> = new Set("properties $defs definitions patternProperties dependentSchemas".split(" "));
const schemas: ReadonlySet<string> = new Set("items anyOf oneOf allOf not if then else".split(" "));
