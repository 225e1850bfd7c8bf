import type { Json, JsonObject } from "@colloquy/machine";
import { expect, test } from "vitest";
import { issuesOf } from "../../src/tools/json-schema.ts";

const node = {
  type: "object",
  properties: { next: { anyOf: [{ $ref: "#/$defs/a~1b" }, { type: "null" }] } },
  required: ["next"],
};

test.each<[string, JsonObject, Json, Json]>([
  ["minimum", { minimum: 5 }, 5, 4],
  ["maximum", { maximum: 5 }, 5, 6],
  ["exclusiveMinimum", { exclusiveMinimum: 5 }, 5.1, 5],
  ["exclusiveMaximum", { exclusiveMaximum: 5 }, 4.9, 5],
  ["multipleOf", { multipleOf: 0.1 }, 0.3, 0.35],
  ["multipleOf for large numbers", { multipleOf: 0.01 }, 1_234_567.89, 1_234_567.891],
  ["multipleOf 1", { multipleOf: 1 }, 123_456_789, 123_456_789.05],
  ["minLength in characters", { minLength: 2 }, "ab", "😀"],
  ["maxLength in characters", { maxLength: 1 }, "😀", "ab"],
  ["pattern", { pattern: "^a" }, "ab", "ba"],
  ["minItems", { minItems: 1 }, [0], []],
  ["maxItems", { maxItems: 1 }, [0], [0, 1]],
  [
    "uniqueItems",
    { uniqueItems: true },
    [{ a: 1, b: 2 }, 1],
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
  ],
  ["prefixItems", { prefixItems: [{ type: "string" }], items: { type: "number" } }, ["a", 1], [1, 1]],
  ["items behind prefixItems", { prefixItems: [{ type: "string" }], items: false }, ["a"], ["a", 1]],
  ["minProperties", { minProperties: 1 }, { a: 1 }, {}],
  ["maxProperties", { maxProperties: 1 }, { a: 1 }, { a: 1, b: 2 }],
  [
    "patternProperties",
    { patternProperties: { "^n": { type: "number" } }, additionalProperties: false },
    { n: 1 },
    { n: "1" },
  ],
  ["additionalProperties", { patternProperties: { "^n": {} }, additionalProperties: false }, { n: 1 }, { m: 1 }],
  ["allOf", { allOf: [{ minimum: 1 }, { maximum: 3 }] }, 2, 4],
  ["oneOf, none", { oneOf: [{ type: "string" }, { type: "null" }] }, null, 1],
  ["oneOf, two", { oneOf: [{ minimum: 1 }, { maximum: 3 }] }, 4, 2],
  ["not", { not: { type: "null" } }, 1, null],
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword is called so
  ["if and then", { if: { type: "string" }, then: { minLength: 2 } }, "ab", "a"],
  ["else", { if: { type: "string" }, else: { type: "null" } }, null, 1],
  ["const, whatever the order of members", { const: { a: 1, b: 2 } }, { b: 2, a: 1 }, { a: 1 }],
  ["$ref", { $ref: "#/$defs/a~1b", $defs: { "a/b": node } }, { next: { next: null } }, { next: { next: 1 } }],
  ["$ref to the whole", { type: "array", items: { $ref: "#" } }, [[[]]], [[1]]],
  ["$ref beside a $ref to itself", { $ref: "#", type: "string" }, "a", 1],
])("a JSON Schema holds values to %s", (_, schema, fits, does) => {
  expect(issuesOf(schema, fits)).toEqual([]);
  expect(issuesOf(schema, does)).not.toEqual([]);
});

test("what is no schema, or leads nowhere, allows everything", () => {
  for (const schema of [undefined, null, {}, { pattern: "(" }, { $ref: "#/$defs/no" }, { $ref: "https://example.org" }])
    expect(issuesOf(schema, "a")).toEqual([]);
});
