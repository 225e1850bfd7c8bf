import type { JsonObject } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import type { Dialect } from "../../../src/llm/wire/dialects.ts";
import { completedSchema, withKeys } from "../../../src/llm/wire/schemas.ts";

const text = { type: "string" };
const number = { type: "number" };
const of = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });

const nested = (depth: number, schema: JsonObject): JsonObject =>
  depth === 0 ? schema : { allOf: [nested(depth - 1, schema)] };

describe("the root of a schema", () => {
  test.each<readonly [string, JsonObject, JsonObject]>([
    [
      "has what all parts require, and is as closed as the first that says so",
      {
        description: "own",
        allOf: [
          { ...of({ a: text }), required: ["a"], description: "of a part" },
          { ...of({ b: text }), required: ["b", "a"], title: "b", additionalProperties: false },
        ],
      },
      of({ a: text, b: text }, { required: ["a", "b"], description: "own", title: "b", additionalProperties: false }),
    ],
    [
      "is closed if all branches are",
      { oneOf: [of({ a: text }, { additionalProperties: false }), of({}, { additionalProperties: false })] },
      of({ a: text }, { additionalProperties: false }),
    ],
    [
      "is open if one branch is",
      { anyOf: [of({ a: text }, { additionalProperties: false }), of({})], required: ["a"] },
      of({ a: text }, { required: ["a"] }),
    ],
    [
      "has a property of several branches once, or as a flat list",
      { anyOf: [of({ a: text, b: text }), of({ a: number, b: text }), of({ a: { type: "null" } })] },
      of({ a: { anyOf: [text, number, { type: "null" }] }, b: text }),
    ],
    [
      "keeps a union that a property has beside other words as one branch",
      { anyOf: [of({ a: { anyOf: [text], title: "t" } }), of({ a: number })] },
      of({ a: { anyOf: [{ anyOf: [text], title: "t" }, number] } }),
    ],
    [
      "has what an object has of a name that all objects have",
      { anyOf: [of({ constructor: text }), of({ toString: number })] },
      of({ constructor: text, toString: number }),
    ],
    ["has neither values nor a negation", of({ a: text }, { enum: [{}], not: { type: "null" } }), of({ a: text })],
    ["has no value", { const: {}, properties: { a: text } }, of({ a: text })],
    ["has no other type", { type: ["object", "null"], properties: { a: text } }, of({ a: text })],
    ["has no list for properties", { type: "object", properties: [] }, of({})],
    ["has no branch that is no object", { anyOf: [true, text, of({ a: text })] }, of({ a: text })],
    [
      "has what a reference with escapes names",
      { $ref: "#/$defs/a~1b~0c%20d", $defs: { "a/b~c d": of({ a: text }) } },
      of({ a: text }, { $defs: { "a/b~c d": of({ a: text }) } }),
    ],
    ["has nothing of a reference that leads nowhere", { $ref: "#/constructor/name" }, of({})],
    ["has what lies eight parts deep", nested(8, of({ a: text })), of({ a: text })],
    ["has nothing that lies deeper", nested(9, of({ a: text })), of({})],
    ["ends where a reference leads back to it", { $ref: "#", properties: { a: text } }, of({ a: text })],
  ])("%s", (_, schema, expected) => {
    expect(completedSchema(schema)).toEqual(expected);
  });

  test("is the same one each time, and as it was for a server that takes any", () => {
    const schema = { anyOf: [of({ a: text })] };
    expect(completedSchema(schema)).toBe(completedSchema(schema));
    expect(completedSchema(schema, "no type lists")).not.toBe(completedSchema(schema));
    expect(completedSchema(schema, "as given")).toBe(schema);
  });
});

describe("the inside of a schema", () => {
  test.each<readonly [string, JsonObject, JsonObject]>([
    ["has no property that is required where no type says so", { required: ["c"] }, { required: ["c"] }],
    // Gemini refuses empty properties there.
    ["gets no properties if nothing is required", { type: "object", required: [] }, { type: "object", required: [] }],
    [
      "has what is required, wherever it is",
      { definitions: { a: { type: "object", required: ["b", 7] } }, patternProperties: { "^x": { type: "array" } } },
      {
        definitions: { a: { type: "object", required: ["b", 7], properties: { b: {} } } },
        patternProperties: { "^x": { type: "array", items: {} } },
      },
    ],
    [
      "has items in every place of a schema",
      {
        if: { type: "array" },
        else: { type: "array" },
        allOf: [{ type: "array" }],
        dependentSchemas: { a: { type: ["array", "null"] } },
        additionalProperties: { type: "array" },
      },
      {
        if: { type: "array", items: {} },
        else: { type: "array", items: {} },
        allOf: [{ type: "array", items: {} }],
        dependentSchemas: { a: { type: ["array", "null"], items: {} } },
        additionalProperties: { type: "array", items: {} },
      },
    ],
    [
      "has values as they are",
      { default: [true], enum: [false], const: true },
      { default: [true], enum: [false], const: true },
    ],
    ["may be open", { type: "object", additionalProperties: true }, { type: "object", additionalProperties: true }],
    [
      "has no branch that nothing matches",
      { oneOf: [false, text, { not: true }, { not: {} }, { not: { type: "null" } }] },
      { oneOf: [text, { not: { type: "null" } }] },
    ],
    [
      "has no items that nothing matches",
      { type: "array", items: { not: {} } },
      { type: "array", maxItems: 0, items: {} },
    ],
    [
      "has each place of a tuple once",
      { prefixItems: [text, number, text], items: number },
      { items: { anyOf: [text, number] } },
    ],
    ["of an empty tuple allows anything", { items: [], additionalItems: false }, { items: {} }],
  ])("%s", (_, each, expected) => {
    expect(completedSchema(of({ a: each }))).toEqual(of({ a: expected }));
  });
});

const inside = (each: JsonObject, form: Dialect["schemas"]) =>
  (completedSchema(of({ a: each }), form)["properties"] as JsonObject)["a"];

test.each<readonly [JsonObject, JsonObject]>([
  [{ type: [] }, {}],
  [
    { type: ["null"], title: "t" },
    { type: "null", title: "t" },
  ],
  [{ type: ["string", "null"], anyOf: [text] }, { anyOf: [text] }],
  [{ type: ["string", "null"], oneOf: [text] }, { oneOf: [text] }],
  [
    { type: ["string", "null"], title: "t", default: "d", format: "date" },
    { title: "t", default: "d", anyOf: [{ type: "string", format: "date" }, { type: "null" }] },
  ],
  [
    {
      type: ["object", "array", "string", "integer", "boolean"],
      required: [],
      properties: {},
      additionalProperties: false,
      items: text,
      minItems: 1,
      contains: text,
      minLength: 1,
      pattern: "a",
      multipleOf: 2,
      exclusiveMaximum: 9,
      $comment: "of all",
    },
    {
      anyOf: [
        { type: "object", required: [], properties: {}, additionalProperties: false, $comment: "of all" },
        { type: "array", items: text, minItems: 1, contains: text, $comment: "of all" },
        { type: "string", minLength: 1, pattern: "a", $comment: "of all" },
        { type: "integer", multipleOf: 2, exclusiveMaximum: 9, $comment: "of all" },
        { type: "boolean", $comment: "of all" },
      ],
    },
  ],
  [
    { type: ["integer", "array", "object"], enum: [1, "a", [], {}, null] },
    {
      anyOf: [
        { type: "integer", enum: [1] },
        { type: "array", enum: [[]], items: {} },
        { type: "object", enum: [{}] },
      ],
    },
  ],
  [{ type: ["string", "boolean"], enum: ["a"] }, { anyOf: [{ type: "string", enum: ["a"] }, { type: "boolean" }] }],
])("a schema of several types has a branch for each, with the words about it: %j", (each, expected) => {
  expect(inside(each, "no type lists")).toEqual(expected);
});

test.each<readonly [JsonObject, JsonObject]>([
  [
    { const: "a", title: "t" },
    { type: "string", enum: ["a"], title: "t" },
  ],
  [{ const: null }, { type: "null", enum: [null] }],
  [{ const: [1] }, { type: "array", enum: [[1]] }],
  [
    { type: "integer", const: 1 },
    { type: "integer", enum: [1] },
  ],
  [{ allOf: [text] }, { allOf: [text] }],
  [{ items: text }, { type: "array", items: text }],
  [
    { type: "string", anyOf: [{ enum: ["a"] }, { $ref: "#/$defs/b" }, { format: "date" }], title: "t" },
    { anyOf: [{ enum: ["a"] }, { $ref: "#/$defs/b" }, { type: "string", format: "date" }], title: "t" },
  ],
])("a schema has one type for Moonshot: %j", (each, expected) => {
  expect(inside(each, "one type each")).toEqual(expected);
});

test.each<readonly [string, string | undefined]>([
  ["^a.b$", "^a.b$"],
  ["^a\n$", "^a\n$"],
  ["a$", "^.*a$"],
  ["\\s", "^.*[ \\t\\r\\n].*$"],
  ["[\\s\\d]\\w", "^.*[ \\t\\r\\n0-9][A-Za-z0-9_].*$"],
  ["^\\t\\n\\r$", "^\\t\\n\\r$"],
  ["^\\x41$", undefined],
  ["^\\bword$", undefined],
  ["^(?:a)$", undefined],
  ["^a|b$", "^a|b$"],
  ["^a|b", undefined],
])("a pattern %j is that of a whole text: %s", (pattern, expected) => {
  const rest = expected === undefined ? {} : { pattern: expected };
  expect(inside({ type: "string", pattern }, "whole patterns")).toEqual({ type: "string", ...rest });
});

test("other keys are named wherever properties are, and nowhere else", () => {
  const schema = of(
    {
      a: { ...of({ a: text, "a/b": text }), required: ["a", 7, "b"] },
      b: { $ref: "#/properties/a/properties/a~1b" },
      c: { $ref: "#/$defs/a", default: { a: "a" }, enum: ["a"] },
    },
    { dependentRequired: { a: ["a", "c"] }, dependentSchemas: { a: of({ a: text }) }, $defs: { a: text } },
  );
  const keyOf = (key: string): string => (key === "a" ? "A" : key === "a/b" ? "A_B" : key);
  expect(withKeys(schema, keyOf)).toEqual(
    of(
      {
        A: { ...of({ A: text, A_B: text }), required: ["A", 7, "b"] },
        b: { $ref: "#/properties/A/properties/A_B" },
        c: { $ref: "#/$defs/a", default: { a: "a" }, enum: ["a"] },
      },
      { dependentRequired: { A: ["A", "c"] }, dependentSchemas: { A: of({ A: text }) }, $defs: { a: text } },
    ),
  );
});
