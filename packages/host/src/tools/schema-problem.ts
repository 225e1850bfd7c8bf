import type { Json, JsonObject } from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy } from "@colloquy/machine/hosting";
import * as Either from "fp-ts/lib/Either.js";
import { kinds, type OptionKind } from "../boundary/option-kinds.ts";
import { patternOf } from "./pattern.ts";

/**
 * Returns why a JSON Schema is invalid or cannot be checked within bounds, with the place; null if it can. A schema that
 * is refused here is refused when a tool is made, not when a model calls it.
 */
export const problemOfSchema = (schema: unknown): string | null => {
  const copy = plainCopy(schema);
  if (copy instanceof NotPlain) return describeValueProblem(copy.problem, "the schema");
  // A plain copy is JSON.
  const root = copy as Json;
  return new Inspection(root).problem();
};

class Inspection {
  readonly #root: Json;
  readonly #chains = new Map<JsonObject, number>();
  readonly #seen = new Set<JsonObject>();
  /** The targets of references. They may be under any name, and count as schemas only because of the reference. */
  readonly #waiting: [Json | undefined, string][];
  #parts = 0;
  #patternsSize = 0;

  constructor(root: Json) {
    this.#root = root;
    this.#waiting = [[root, ""]];
  }

  problem(): string | null {
    // The loop also visits the items that are added meanwhile.
    for (const [schema, path] of this.#waiting) {
      const problem = this.#problemOf(schema, path);
      if (problem !== null) return problem;
    }
    return null;
  }

  #problemOf(schema: Json | undefined, path: string): string | null {
    if (isObject(schema) && this.#seen.has(schema)) return null;
    if (++this.#parts > partsMax) return `the schema has more than ${partsMax} parts`;
    if (typeof schema === "boolean") return null;
    const at = (problem: string): string => (path === "" ? problem : `${path}: ${problem}`);
    if (!isObject(schema)) return at("it must be a schema: an object, true or false");
    this.#seen.add(schema);
    for (const [keyword, value] of Object.entries(schema)) {
      const expected = keywords.get(keyword);
      if (expected !== undefined && !expected.fits(value))
        return at(`${keyword} must be ${expected.takes} (got ${shown(value)})`);
      const problem = this.#problemOfValue(keyword, value);
      if (problem !== null) return at(`${keyword} ${shown(value)}: ${problem}`);
      for (const [place, part] of partsIn(keyword, value)) {
        const within = this.#problemOf(part, `${path}${path === "" ? "" : "."}${keyword}${place}`);
        if (within !== null) return within;
      }
    }
    return this.#chainOf(schema) > chainMax
      ? at(`it leads through more than ${chainMax} other schemas for one value`)
      : null;
  }

  #problemOfValue(keyword: string, value: Json | undefined): string | null {
    if (keyword === "$ref" && typeof value === "string") {
      const referred = placeIn(this.#root, value);
      if (referred === undefined) return "it leads to no place in the schema";
      this.#waiting.push([referred, value]);
    }
    const sources =
      keyword === "pattern" && typeof value === "string"
        ? [value]
        : keyword === "patternProperties" && isObject(value)
          ? Object.keys(value)
          : [];
    for (const source of sources) {
      const pattern = patternOf(source);
      if (Either.isLeft(pattern)) return pattern.left;
      this.#patternsSize += pattern.right.size;
      if (this.#patternsSize > patternsSizeMax)
        return `the patterns of the schema have more than ${patternsSizeMax} parts together`;
    }
    return null;
  }

  /** Returns how many schemas, one leading to the next, are applied to the same value. */
  #chainOf(schema: Json | undefined, levels = 0): number {
    if (!isObject(schema) || levels > chainMax) return levels > chainMax ? levels : 0;
    const known = this.#chains.get(schema);
    if (known !== undefined) return known;
    this.#chains.set(schema, 0);
    const { $ref: reference } = schema;
    const next = [
      ...(typeof reference === "string" ? [placeIn(this.#root, reference)] : []),
      ...inPlace.flatMap((keyword): readonly (Json | undefined)[] => {
        const value = schema[keyword];
        return isList(value) ? value : [value];
      }),
    ];
    const chain = 1 + Math.max(0, ...next.map((each) => this.#chainOf(each, levels + 1)));
    this.#chains.set(schema, chain);
    return chain;
  }
}

const partsMax = 10_000;

/** Takes some tenths of a second to read, and a hundred megabytes if one check uses all of them. */
const patternsSizeMax = 1_000_000;

const chainMax = 100;

/** Keywords whose schemas are applied to the value itself, not to parts of it. */
const inPlace = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"] as const;

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];
const type = kinds.of(`one or some of ${types.join(", ")}`, (value) =>
  [value].flat().every((each) => types.some((name) => name === each)),
);
const texts = kinds.listOf("texts", (each) => typeof each === "string");

/** The keywords that a check evaluates, by the kind of their values. */
const keywordsOf: readonly (readonly [OptionKind, readonly string[]])[] = [
  [type, ["type"]],
  [kinds.anyText, ["pattern", "$ref"]],
  [texts, ["required"]],
  [kinds.number, ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
  [kinds.whole(0), ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"]],
  [kinds.object, ["properties", "patternProperties", "$defs", "definitions"]],
  [kinds.list, ["enum", "allOf", "anyOf", "oneOf", "prefixItems"]],
];

const keywords: ReadonlyMap<string, OptionKind> = new Map(
  keywordsOf.flatMap(([kind, names]) => names.map((name) => [name, kind] as const)),
);

const single: readonly string[] = ["additionalProperties", "items", "not", "if", "then", "else"];

/** Returns the schemas that a keyword holds, each with its place within the keyword. */
const partsIn = (keyword: string, value: Json | undefined): readonly (readonly [string, Json | undefined])[] => {
  if (single.includes(keyword) && !isList(value)) return [["", value]];
  const kind = keywords.get(keyword);
  if (kind === kinds.object && isObject(value)) return Object.entries(value).map(([name, part]) => [`.${name}`, part]);
  const isOfSchemas = kind === kinds.list && keyword !== "enum";
  return isOfSchemas && isList(value) ? value.map((part, index) => [`.${index}`, part]) : [];
};

const shown = (value: Json | undefined): string => {
  const written = JSON.stringify(value) ?? "";
  return written.length <= shownMax ? written : `${written.slice(0, shownMax)}…`;
};

const shownMax = 200;

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
