import type { Json, JsonObject } from "@colloquy/machine";
import { isList, isObject, listOf } from "../json/loose-json.ts";

/** Returns a schema without a list of types: each of several becomes a branch, with the keywords that are about it. */
export const withOneType = (schema: JsonObject): JsonObject => {
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

const defined = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Returns the keywords that are about a type, and those that are about none. */
const keywordsOf = (type: string, schema: JsonObject): JsonObject => {
  const left = Object.entries(schema).map(([keyword, value]): [string, Json | undefined] => {
    const about = Object.entries(ofTypes).find(([, pattern]) => pattern.test(keyword))?.[0];
    if (keyword === "enum") {
      const values = listOf(value).filter((each) => typeOf(each) === (type === "integer" ? "number" : type));
      return [keyword, values.length === 0 ? undefined : values];
    }
    return [
      keyword,
      about === undefined || about === type || (about === "number" && type === "integer") ? value : undefined,
    ];
  });
  return defined(Object.fromEntries(left));
};

const ofTypes: { readonly [type: string]: RegExp } = {
  object: /propert|^required$|^dependent/i,
  array: /items$|contains$/i,
  string: /length$|^pattern$|^format$/i,
  number: /(minimum|maximum)$|^multipleOf$/i,
};

const typeOf = (value: Json | undefined): string => (value === null ? "null" : isList(value) ? "array" : typeof value);

/** Returns a schema that has a type, or a union of schemas that have one each, as Moonshot's flavour of JSON Schema wants it. */
export const withType = (schema: JsonObject): JsonObject => {
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
export const withWholePattern = (schema: JsonObject): JsonObject => {
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
