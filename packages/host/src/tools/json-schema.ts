import { canonicalText, type Json, type JsonObject } from "@colloquy/machine";
import type { SchemaIssue } from "./schema.ts";

/**
 * What a value gets wrong of a JSON Schema: of types, values, members, elements, sizes, patterns and combinations, with
 * references within the schema. Formats pass, and so do `contains`, `propertyNames`, `unevaluated…` and `dependent…`: what
 * needs them gives a Standard Schema. Total: a schema that is none allows everything.
 */
export const issuesOf = (
  schema: Json | undefined,
  value: Json,
  path: readonly string[] = [],
  whole: Whole = { root: schema, referred: [] },
): readonly SchemaIssue[] => {
  if (schema === false) return [{ path, message: "not expected here" }];
  if (!isObject(schema)) return [];
  const wrong = ownProblem(schema, value) ?? problemOfSize(schema, value) ?? problemOfChoices(schema, value, whole);
  if (wrong !== null) return [{ path, message: wrong }];
  return [
    ...(isList(schema["allOf"]) ? schema["allOf"].flatMap((each) => issuesOf(each, value, path, whole)) : []),
    ...referredTo(schema["$ref"], value, path, whole),
    ...membersOf(schema, value, path, within(whole)),
    ...elementsOf(schema, value, path, within(whole)),
  ];
};

/** The schema that references are looked up in, and those that led to the value: one that leads to itself says nothing. */
interface Whole {
  readonly root: Json | undefined;
  readonly referred: readonly string[];
}

const within = ({ root }: Whole): Whole => ({ root, referred: [] });

const referredTo = (
  reference: Json | undefined,
  value: Json,
  path: readonly string[],
  { root, referred }: Whole,
): readonly SchemaIssue[] =>
  typeof reference !== "string" || referred.includes(reference)
    ? []
    : issuesOf(placeIn(root, reference), value, path, { root, referred: [...referred, reference] });

/** What a JSON pointer such as `#/$defs/Node` leads to; undefined where there is nothing, or it leads elsewhere. */
const placeIn = (root: Json | undefined, reference: string): Json | undefined => {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  return reference
    .split("/")
    .slice(1)
    .map((name) => named(name).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<Json | undefined>((at, name) => {
      if (isList(at)) return at[Number(name)];
      return isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
    }, root);
};

const named = (written: string): string => {
  try {
    return decodeURIComponent(written);
  } catch {
    return written;
  }
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
  return null;
};

const problemOfChoices = (schema: JsonObject, value: Json, whole: Whole): string | null => {
  const { anyOf, oneOf, not, if: condition } = schema;
  const fits = (option: Json | undefined): boolean => issuesOf(option, value, [], whole).length === 0;
  if (isList(anyOf) && !anyOf.some(fits)) return "fits none of the alternatives";
  const fitting = isList(oneOf) ? oneOf.filter(fits).length : 1;
  if (fitting !== 1) return fitting === 0 ? "fits none of the alternatives" : "fits more than one of the alternatives";
  if (not !== undefined && fits(not)) return "fits what it must not";
  if (condition === undefined) return null;
  return fits(schema[fits(condition) ? "then" : "else"]) ? null : "does not fit what its other members ask for";
};

const problemOfSize = (schema: JsonObject, value: Json): string | null => {
  if (typeof value === "number") return problemOfNumber(schema, value);
  if (typeof value === "string")
    return (
      outside(schema, "Length", Array.from(value).length, "characters") ?? problemOfPattern(schema["pattern"], value)
    );
  if (isList(value)) {
    const isTwice = schema["uniqueItems"] === true && new Set(value.map(canonicalText)).size < value.length;
    return outside(schema, "Items", value.length, "elements") ?? (isTwice ? "has an element twice" : null);
  }
  return isObject(value) ? outside(schema, "Properties", Object.keys(value).length, "members") : null;
};

const problemOfNumber = (schema: JsonObject, value: number): string | null => {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === "number" && value < minimum) return `expected ${minimum} or more`;
  if (typeof maximum === "number" && value > maximum) return `expected ${maximum} or less`;
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    return `expected more than ${exclusiveMinimum}`;
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    return `expected less than ${exclusiveMaximum}`;
  if (typeof multipleOf !== "number" || multipleOf <= 0) return null;
  const times = value / multipleOf;
  // 0.3 is three times 0.1, though not in binary.
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times))
    ? null
    : `expected a multiple of ${multipleOf}`;
};

const outside = (schema: JsonObject, of: string, size: number, what: string): string | null => {
  const { [`min${of}`]: least, [`max${of}`]: most } = schema;
  if (typeof least === "number" && size < least) return `expected ${least} ${what} or more`;
  return typeof most === "number" && size > most ? `expected ${most} ${what} or fewer` : null;
};

const problemOfPattern = (pattern: Json | undefined, value: string): string | null =>
  typeof pattern !== "string" || matches(pattern, value) ? null : `expected to match ${pattern}`;

/** A pattern that is none allows everything. */
const matches = (pattern: string, text: string): boolean => {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
};

const membersOf = (schema: JsonObject, value: Json, path: readonly string[], whole: Whole): readonly SchemaIssue[] => {
  if (!isObject(value)) return [];
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const patterns = isObject(schema["patternProperties"]) ? Object.entries(schema["patternProperties"]) : [];
  const missing = (textsOf(schema["required"]) ?? [])
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path: [...path, name], message: "required, but missing" }));
  const members = Object.entries(value).flatMap(([name, member]) => {
    const declared = [
      ...(Object.hasOwn(properties, name) ? [properties[name]] : []),
      ...patterns.filter(([pattern]) => matches(pattern, name)).map(([, each]) => each),
    ];
    const asked = declared.length === 0 ? [schema["additionalProperties"]] : declared;
    return member === undefined ? [] : asked.flatMap((each) => issuesOf(each, member, [...path, name], whole));
  });
  return [...missing, ...members];
};

const elementsOf = (schema: JsonObject, value: Json, path: readonly string[], whole: Whole): readonly SchemaIssue[] => {
  const { prefixItems, items } = schema;
  const first = isList(prefixItems) ? prefixItems : [];
  return isList(value)
    ? value.flatMap((element, index) =>
        issuesOf(index < first.length ? first[index] : items, element, [...path, String(index)], whole),
      )
    : [];
};

const textsOf = (value: Json | undefined): readonly string[] | null =>
  isList(value) ? value.filter((element) => typeof element === "string") : null;

const isOfType = (value: Json, type: string): boolean =>
  type === "integer" ? Number.isInteger(value) : type === "number" ? typeof value === "number" : typeOf(value) === type;

const typeOf = (value: Json): string => (value === null ? "null" : isList(value) ? "array" : typeof value);

const isSame = (left: Json, right: Json): boolean => canonicalText(left) === canonicalText(right);

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
