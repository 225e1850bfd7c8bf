import type { Json, JsonObject } from "@colloquy/machine";
import { isList, isObject, listOf, textOf } from "../json/loose-json.ts";
import type { Dialect } from "./dialect.ts";
import { withOneType, withType, withWholePattern } from "./types-in-schemas.ts";

/**
 * Returns the schema of a tool's arguments as servers take it: an object at the root, with `properties`, and one schema as the
 * `items` of each list. A union or a reference at the root becomes one object that allows what any of its branches allows: the
 * host checks arguments by the declared schema, so it accepts nothing more. What nothing matches (`false`) is left out.
 */
export const completedSchema = (schema: JsonObject, form: Dialect["schemas"] = "completed"): JsonObject => {
  if (form === "as given") return schema;
  const completed = forms[form];
  const known = completed.get(schema);
  if (known !== undefined) return known;
  const { type: _, $schema: _schema, properties, ...root } = merged(schema, schema, 0);
  const isSame =
    schema["type"] === "object" && isObject(schema["properties"]) && !parts.some((member) => member in schema);
  const filled = isSame ? schema : { type: "object", properties: objectOf(properties), ...root };
  const whole = everywhere(filled, (each) => changes[form](withRequired(withoutNever(withOneOfItems(each)))));
  completed.set(schema, whole);
  return whole;
};

type Form = Exclude<Dialect["schemas"], "as given">;

/** Declarations never change, and go with each request. */
const forms: { readonly [Name in Form]: WeakMap<JsonObject, JsonObject> } = {
  completed: new WeakMap(),
  "no type lists": new WeakMap(),
  "one type each": new WeakMap(),
  "whole patterns": new WeakMap(),
};

const changes: { readonly [Name in Form]: (schema: JsonObject) => JsonObject } = {
  completed: (schema) => schema,
  "no type lists": withOneType,
  "one type each": (schema) => withType(withOneType(schema)),
  "whole patterns": withWholePattern,
};

/** llama.cpp and Moonshot do not know `not`, and zod writes `never` so. */
const withoutNever = (schema: JsonObject): JsonObject => {
  const { properties, items } = schema;
  const changed: { [keyword: string]: Json | undefined } = { ...schema };
  if (isNever(items)) Object.assign(changed, { maxItems: 0, items: {} });
  if (isObject(properties))
    changed["properties"] = Object.fromEntries(Object.entries(properties).filter(([, each]) => !isNever(each)));
  for (const union of ["anyOf", "oneOf"]) {
    const branches = listOf(schema[union]);
    if (branches.some(isNever)) changed[union] = branches.filter((each) => !isNever(each));
  }
  return changed;
};

const isNever = (schema: Json | undefined): boolean => {
  if (!isObject(schema)) return schema === false;
  const { not } = schema;
  return not === true || (isObject(not) && Object.keys(not).length === 0);
};

/** Members that no server takes at the root. */
const parts = ["$schema", "$ref", "not", "enum", "anyOf", "oneOf", "allOf"];

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** Merges the branches of the root into it: the properties of all, required if all of them require it. */
const merged = (schema: JsonObject, root: JsonObject, depth: number): JsonObject => {
  // A reference may lead back to where it is.
  if (depth > 8) return {};
  const { $ref, anyOf, oneOf, allOf, not: _, enum: _enum, const: _const, ...own } = schema;
  const inside = (part: JsonObject): JsonObject => merged(part, root, depth + 1);
  const target = typeof $ref === "string" ? [atPointer(root, $ref)] : [];
  let whole: JsonObject = own;
  for (const part of [...target, ...listOf(allOf)].filter(isObject)) whole = joined(whole, inside(part), true);
  for (const union of [anyOf, oneOf]) {
    // Arguments are an object, so other branches do not matter.
    const [first, ...others] = listOf(union).filter(isObject).map(inside);
    if (first === undefined) continue;
    const either = others.reduce((one, other) => joined(one, other, false), first);
    whole = joined(whole, either, true);
  }
  return whole;
};

/** Joins two schemas of objects: both must hold, or one of them. */
const joined = (left: JsonObject, right: JsonObject, both: boolean): JsonObject => {
  const { properties: ofLeft, required: neededLeft, additionalProperties: openLeft, ...others } = left;
  const { properties: ofRight, required: neededRight, additionalProperties: openRight, ...more } = right;
  const properties = joinedProperties(objectOf(ofLeft), objectOf(ofRight));
  const [first, second] = [listOf(neededLeft), listOf(neededRight)];
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
      all[name] = { anyOf: [...branchesOf(before), ...branchesOf(schema)] };
  }
  return all;
};

/** A property of several branches becomes one flat list of them. */
const branchesOf = (schema: Json | undefined): readonly Json[] => {
  if (isObject(schema) && isList(schema["anyOf"]) && Object.keys(schema).length === 1) return schema["anyOf"];
  return schema === undefined ? [] : [schema];
};

const atPointer = (root: JsonObject, ref: string): Json | undefined =>
  ref
    .replace(/^#\/?/, "")
    .split("/")
    .filter((step) => step !== "")
    .map(keyOfStep)
    .reduce<Json | undefined>((at, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined), root);

/** Returns the key that a step of a pointer names (RFC 6901, in a URI). */
const keyOfStep = (step: string): string => {
  const key = step.replaceAll(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll("%", ""), "hex").toString(),
  );
  return key.replaceAll("~1", "/").replaceAll("~0", "~");
};

/** Returns the schema with other keys of its properties, wherever they are named. */
export const withKeys = (schema: JsonObject, keyOf: (key: string) => string): JsonObject => {
  const renamed = (names: Json | undefined): Json | undefined =>
    isList(names) ? names.map((name) => (typeof name === "string" ? keyOf(name) : name)) : names;
  const stepTo = (step: string): string => {
    const key = keyOfStep(step);
    const written = keyOf(key);
    return written === key ? step : written;
  };
  return everywhere(schema, (each) =>
    Object.fromEntries(
      Object.entries(each).map(([keyword, value]) => {
        if (keyword === "required") return [keyword, renamed(value)];
        if (keyword === "$ref") return [keyword, textOf(value).replaceAll(/(?<=\/properties\/)[^/]+/g, stepTo)];
        const isKeyed = ["properties", "dependentRequired", "dependentSchemas"].includes(keyword) && isObject(value);
        if (!isKeyed) return [keyword, value];
        return [keyword, Object.fromEntries(Object.entries(value).map(([key, of]) => [keyOf(key), renamed(of)]))];
      }),
    ),
  );
};

/** Changes a schema, and then each schema in it. An object takes the place of `true` and `false`. */
const everywhere = (schema: JsonObject, change: (schema: JsonObject) => JsonObject): JsonObject => {
  const inside = (value: Json | undefined): Json | undefined => {
    if (isList(value)) return value.map((each) => inside(each) ?? null);
    if (typeof value === "boolean") return value ? {} : { not: {} };
    return isObject(value) ? everywhere(value, change) : value;
  };
  return Object.fromEntries(
    Object.entries(change(schema)).map(([name, value]): [string, Json | undefined] => {
      if (maps.has(name) && isObject(value))
        return [name, Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inside(each)]))];
      const isSchema = schemas.has(name) || (name === "additionalProperties" && isObject(value));
      return [name, isSchema ? inside(value) : value];
    }),
  );
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

const maps: ReadonlySet<string> = new Set("properties $defs definitions patternProperties dependentSchemas".split(" "));
const schemas: ReadonlySet<string> = new Set("items anyOf oneOf allOf not if then else".split(" "));
