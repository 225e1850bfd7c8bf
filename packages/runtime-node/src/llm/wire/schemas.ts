import type { Json, JsonObject } from "@colloquy/machine";
import { decoded, defined, isList, isObject, listOf, textOf } from "../json/loose-json.ts";
import type { Dialect } from "./dialects.ts";

/**
 * Returns the schema of a tool's arguments as servers take it: an object at the root, with `properties`, and one schema as the
 * `items` of each list. A union or a reference at the root becomes one object that allows what any of its branches allows: the
 * host checks arguments by the declared schema, so it accepts nothing more. What nothing matches (`false`) is left out.
 */
export const completedSchema = (schema: JsonObject, form: Dialect["schemas"] = "completed"): JsonObject => {
  if (form === "as given") return schema;
  const { known: completed, change } = forms[form];
  const known = completed.get(schema);
  if (known !== undefined) return known;
  const { type: _, $schema: _schema, properties, ...root } = merged(schema, schema, 0);
  const isSame =
    schema["type"] === "object" && isObject(schema["properties"]) && !parts.some((member) => member in schema);
  const filled = isSame ? schema : { type: "object", properties: objectOf(properties), ...root };
  const whole = everywhere(filled, (each) => change(withRequired(withoutNever(withOneOfItems(each)))));
  completed.set(schema, whole);
  return whole;
};

/** Declarations never change, and go with each request, so the completed ones are kept. */
const formOf = (change: (schema: JsonObject) => JsonObject) => ({
  change,
  known: new WeakMap<JsonObject, JsonObject>(),
});

/** llama.cpp and Moonshot do not know `not`, and zod writes `never` so. */
const withoutNever = (schema: JsonObject): JsonObject => {
  const { properties, items } = schema;
  const changed: { [keyword: string]: Json | undefined } = { ...schema };
  if (isNever(items)) Object.assign(changed, { maxItems: 0, items: {} });
  if (isObject(properties))
    changed["properties"] = Object.fromEntries(Object.entries(properties).filter(([, each]) => !isNever(each)));
  for (const union of ["anyOf", "oneOf"])
    if (isList(schema[union])) changed[union] = schema[union].filter((each) => !isNever(each));
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
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...defined({ additionalProperties: open }),
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
const keyOfStep = (step: string): string => decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");

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
    if (typeof value === "boolean") return inside(value ? {} : { not: {} });
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

/** Returns a schema without a list of types: each of several becomes a branch, with the keywords that are about it. */
const withOneType = (schema: JsonObject): JsonObject => {
  const { type, description, title, default: initial, ...others } = schema;
  if (!isList(type)) return schema;
  const [first, ...more] = type.filter((each) => typeof each === "string");
  const { anyOf, oneOf } = others;
  if (more.length === 0 || anyOf !== undefined || oneOf !== undefined) {
    const { type: _, ...untyped } = schema;
    return more.length > 0 || first === undefined ? untyped : { ...schema, type: first };
  }
  const branches = [first ?? "null", ...more].map((each) => ({ type: each, ...keywordsOf(each, others) }));
  return { ...defined({ title, description, default: initial }), anyOf: branches };
};

/** Returns the keywords that are about a type, and those that are about none. */
const keywordsOf = (type: string, schema: JsonObject): JsonObject => {
  const kind = type === "integer" ? "number" : type;
  const left = Object.entries(schema).flatMap(([keyword, value]): (readonly [string, Json | undefined])[] => {
    const about = Object.entries(ofTypes).find(([, pattern]) => pattern.test(keyword))?.[0] ?? kind;
    if (keyword !== "enum") return about === kind ? [[keyword, value]] : [];
    const values = listOf(value).filter((each) => typeOf(each) === kind);
    return values.length === 0 ? [] : [[keyword, values]];
  });
  return Object.fromEntries(left);
};

const ofTypes: { readonly [type: string]: RegExp } = {
  object: /propert|^required$|^dependent/i,
  array: /items$|contains$/i,
  string: /length$|^pattern$|^format$/i,
  number: /(minimum|maximum)$|^multipleOf$/i,
};

const typeOf = (value: Json | undefined): string => (value === null ? "null" : isList(value) ? "array" : typeof value);

/** Returns a schema that has a type, or a union of schemas that have one each, as Moonshot's flavour of JSON Schema wants it. */
const withType = (schema: JsonObject): JsonObject => {
  const { $ref, type, anyOf, oneOf, const: only, ...others } = schema;
  if ($ref !== undefined) return { $ref };
  const union = anyOf ?? oneOf;
  if (isList(union)) {
    const hasOwn = (branch: JsonObject): boolean =>
      ["type", "$ref", "anyOf", "oneOf", "enum"].some((each) => each in branch);
    const branches = union.map((each) =>
      isObject(each) && type !== undefined && !hasOwn(each) ? { type, ...each } : each,
    );
    return { ...others, anyOf: branches };
  }
  if (only !== undefined) return { ...others, type: type ?? typeOf(only), enum: [only] };
  if (type !== undefined || others["enum"] !== undefined || others["allOf"] !== undefined) return schema;
  if (others["properties"] !== undefined) return { type: "object", ...schema };
  return others["items"] === undefined ? { ...others, ...any } : { type: "array", ...schema };
};

const simple = ["string", "number", "boolean", "object"].map((type) => ({ type }));
const any = { anyOf: [...simple, { type: "array", items: { anyOf: simple } }, { type: "null" }] };

/**
 * Returns a schema whose pattern is about a whole text, in the few words of regular expressions that llama.cpp knows. One that
 * cannot be written so is left out.
 */
const withWholePattern = (schema: JsonObject): JsonObject => {
  const { pattern, ...others } = schema;
  if (typeof pattern !== "string") return schema;
  const isWhole = /^\^.*\$$/s.test(pattern);
  const start = pattern.startsWith("^") ? "" : "^.*";
  const end = pattern.endsWith("$") ? "" : ".*$";
  const plain = pattern.replaceAll(/\\([dws])/g, (_, name: string, at: number) => {
    const before = pattern.slice(0, at);
    const isInside = before.lastIndexOf("[") > before.lastIndexOf("]");
    return isInside ? (classes[name] ?? "") : `[${classes[name] ?? ""}]`;
  });
  const written = isWhole ? plain : `${start}${plain}${end}`;
  const isKnown = !/\\[a-zA-Z]|\(\?/.test(plain.replaceAll(/\\[tnr]/g, "")) && (isWhole || !plain.includes("|"));
  return isKnown ? { ...schema, pattern: written } : others;
};

const classes: { readonly [name: string]: string } = { d: "0-9", w: "A-Za-z0-9_", s: " \\t\\r\\n" };

const forms: { readonly [Form in Exclude<Dialect["schemas"], "as given">]: ReturnType<typeof formOf> } = {
  completed: formOf((schema) => schema),
  "no type lists": formOf(withOneType),
  "one type each": formOf((schema) => withType(withOneType(schema))),
  "whole patterns": formOf(withWholePattern),
};
