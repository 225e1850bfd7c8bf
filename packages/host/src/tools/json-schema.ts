import { canonicalText, type Json, type JsonObject } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { isList, isObject, placeIn } from "./schema-problem.ts";
import { type Pattern, patternOf } from "./pattern.ts";
import type { SchemaIssue } from "./schema.ts";

/** The steps that a check may still take. The caller reads from it how many were taken. */
export interface Budget {
  left: number;
}

/** Takes some tenths of a second. */
export const checkStepsMax = 10_000_000;

/**
 * Checks a value by a JSON Schema: types, values, members, elements, sizes, patterns, combinations, and references within
 * the schema. Other keywords pass; use a Standard Schema for them. Neither a schema nor a value can make it run for long:
 * each part of the schema is applied to each part of the value once, patterns are matched in linear time, and the steps
 * are counted. A part of a schema that is invalid, or not linear, allows everything; `problemOfSchema` refuses such a schema beforehand.
 */
export const issuesOf = (
  schema: Json | undefined,
  value: Json,
  budget: Budget = { left: checkStepsMax },
): readonly SchemaIssue[] => {
  try {
    return new Check(schema, budget).issues(schema, placeOf(value, []));
  } catch (thrown) {
    if (thrown instanceof OutOfBounds) return [{ path: [], message: thrown.message }];
    throw thrown;
  }
};

interface Place {
  readonly value: Json;
  readonly path: readonly string[];
  readonly members: Map<string, Place>;
  /** The issues by applied schema. A schema that is being applied has none yet, so a recursive one ends. */
  readonly issues: Map<JsonObject, readonly SchemaIssue[]>;
}

const placeOf = (value: Json, path: readonly string[]): Place => ({
  value,
  path,
  members: new Map(),
  issues: new Map(),
});

class OutOfBounds extends Error {}

class Check {
  readonly #root: Json | undefined;
  readonly #budget: Budget;
  readonly #patterns = new Map<string, Pattern | null>();
  #levels = 0;

  constructor(root: Json | undefined, budget: Budget) {
    this.#root = root;
    this.#budget = budget;
  }

  issues(schema: Json | undefined, place: Place): readonly SchemaIssue[] {
    if (schema === false) return [{ path: place.path, message: "not expected here" }];
    if (!isObject(schema)) return [];
    const known = place.issues.get(schema);
    if (known !== undefined) return known;
    place.issues.set(schema, []);
    this.#spend(1);
    if (++this.#levels > levelsMax) throw new OutOfBounds("is nested too deep to be checked; send less");
    const found = this.#issues(schema, place);
    this.#levels -= 1;
    place.issues.set(schema, found);
    return found;
  }

  #issues(schema: JsonObject, place: Place): readonly SchemaIssue[] {
    const { value, path } = place;
    const wrong = this.#ownProblem(schema, value) ?? this.#problemOfSize(schema, value) ?? this.#choices(schema, place);
    if (wrong !== null) return [{ path, message: wrong }];
    const { allOf, $ref: reference } = schema;
    // Each issue once: otherwise they would double with each part that refers to another twice.
    const issues = new Set((isList(allOf) ? allOf : []).flatMap((each) => this.issues(each, place)));
    for (const each of typeof reference === "string" ? this.issues(this.#referred(reference), place) : [])
      issues.add(each);
    for (const each of this.#ofMembers(schema, place)) issues.add(each);
    for (const each of this.#ofElements(schema, place)) issues.add(each);
    this.#spend(issues.size);
    return [...issues];
  }

  #spend(steps: number): void {
    this.#budget.left -= steps;
    if (this.#budget.left < 0)
      throw new OutOfBounds(`cannot be checked within ${checkStepsMax} steps; send less, or a simpler value`);
  }

  #referred(reference: string): Json | undefined {
    this.#spend(reference.length);
    return placeIn(this.#root, reference);
  }

  #ownProblem(schema: JsonObject, value: Json): string | null {
    const types = typeof schema["type"] === "string" ? [schema["type"]] : textsOf(schema["type"]);
    if (types !== null && !types.some((type) => isOfType(value, type))) {
      return `expected ${types.join(" or ")}, received ${typeOf(value)}`;
    }
    const { enum: options, const: only } = schema;
    if (isList(options)) {
      const own = this.#text(value);
      if (!options.some((option) => this.#text(option) === own))
        return `expected one of ${options.map((option) => JSON.stringify(option)).join(", ")}`;
    }
    return only === undefined || this.#text(only) === this.#text(value) ? null : `expected ${JSON.stringify(only)}`;
  }

  #text(value: Json): string {
    const text = canonicalText(value);
    this.#spend(text.length);
    return text;
  }

  #choices(schema: JsonObject, place: Place): string | null {
    const { anyOf, oneOf, not, if: condition } = schema;
    const fits = (option: Json | undefined): boolean => this.issues(option, place).length === 0;
    if (isList(anyOf) && !anyOf.some(fits)) return "fits none of the alternatives";
    const fitting = isList(oneOf) ? oneOf.filter(fits).length : 1;
    if (fitting !== 1)
      return fitting === 0 ? "fits none of the alternatives" : "fits more than one of the alternatives";
    if (not !== undefined && fits(not)) return "fits what it must not";
    if (condition === undefined) return null;
    return fits(schema[fits(condition) ? "then" : "else"]) ? null : "does not fit what its other members ask for";
  }

  #problemOfSize(schema: JsonObject, value: Json): string | null {
    if (typeof value === "number") return problemOfNumber(schema, value);
    if (typeof value === "string") {
      this.#spend(value.length);
      const { pattern } = schema;
      return (
        outside(schema, "Length", Array.from(value).length, "characters") ??
        (typeof pattern !== "string" || this.#matches(pattern, value) ? null : `expected to match ${pattern}`)
      );
    }
    if (isList(value)) {
      const texts = schema["uniqueItems"] === true ? value.map((each) => this.#text(each)) : [];
      const isTwice = new Set(texts).size < texts.length;
      return outside(schema, "Items", value.length, "elements") ?? (isTwice ? "has an element twice" : null);
    }
    return isObject(value) ? outside(schema, "Properties", Object.keys(value).length, "members") : null;
  }

  #matches(source: string, text: string): boolean {
    let pattern = this.#patterns.get(source);
    if (pattern === undefined) {
      pattern = Either.getOrElse<string, Pattern | null>(() => null)(patternOf(source));
      this.#spend(source.length + (pattern?.size ?? 0));
      this.#patterns.set(source, pattern);
    }
    return pattern === null || pattern.test(text, (steps) => this.#spend(steps));
  }

  #ofMembers(schema: JsonObject, place: Place): readonly SchemaIssue[] {
    const { value, path } = place;
    if (!isObject(value)) return [];
    const properties = isObject(schema["properties"]) ? schema["properties"] : {};
    const patterns = isObject(schema["patternProperties"]) ? Object.entries(schema["patternProperties"]) : [];
    const required = textsOf(schema["required"]) ?? [];
    this.#spend(required.length + patterns.length);
    const missing = required
      .filter((name) => !Object.hasOwn(value, name))
      .map((name) => ({ path: [...path, name], message: "required, but missing" }));
    const members = Object.entries(value).flatMap(([name, member]) => {
      this.#spend(1);
      const declared = [
        ...(Object.hasOwn(properties, name) ? [properties[name]] : []),
        ...patterns.filter(([pattern]) => this.#matches(pattern, name)).map(([, each]) => each),
      ];
      const asked = declared.length === 0 ? [schema["additionalProperties"]] : declared;
      return member === undefined ? [] : asked.flatMap((each) => this.issues(each, memberOf(place, name, member)));
    });
    return [...missing, ...members];
  }

  #ofElements(schema: JsonObject, place: Place): readonly SchemaIssue[] {
    const { prefixItems, items } = schema;
    const { value } = place;
    const first = isList(prefixItems) ? prefixItems : [];
    if (!isList(value) || (first.length === 0 && items === undefined)) return [];
    this.#spend(value.length);
    return value.flatMap((element, index) =>
      this.issues(index < first.length ? first[index] : items, memberOf(place, String(index), element)),
    );
  }
}

/** Deeper nesting would overflow the stack. */
const levelsMax = 800;

const memberOf = ({ path, members }: Place, name: string, value: Json): Place => {
  const known = members.get(name) ?? placeOf(value, [...path, name]);
  members.set(name, known);
  return known;
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
  // 0.3 is three times 0.1, though not in binary. The tolerance is the rounding of the two numbers and their quotient.
  return Math.abs(times - Math.round(times)) <= 2 * Number.EPSILON * Math.abs(times)
    ? null
    : `expected a multiple of ${multipleOf}`;
};

const outside = (schema: JsonObject, of: string, size: number, what: string): string | null => {
  const { [`min${of}`]: least, [`max${of}`]: most } = schema;
  if (typeof least === "number" && size < least) return `expected ${least} ${what} or more`;
  return typeof most === "number" && size > most ? `expected ${most} ${what} or fewer` : null;
};

const textsOf = (value: Json | undefined): readonly string[] | null =>
  isList(value) ? value.filter((element) => typeof element === "string") : null;

const isOfType = (value: Json, type: string): boolean =>
  type === "integer" ? Number.isInteger(value) : type === "number" ? typeof value === "number" : typeOf(value) === type;

const typeOf = (value: Json): string => (value === null ? "null" : isList(value) ? "array" : typeof value);
