import type { JsonObject } from "@colloquy/machine";
import { fc, test as property } from "@fast-check/vitest";
import { expect, test } from "vitest";
import * as Either from "fp-ts/lib/Either.js";
import { tool } from "../../src/index.ts";
import { wantedOutput } from "../../src/output/expected.ts";
import { checkStepsMax, issuesOf } from "../../src/tools/json-schema.ts";
import { problemOfSchema } from "../../src/tools/schema-problem.ts";

/** Makes a schema with a chain of definitions. `link` makes each of them from a reference to the next one. */
const chained = (count: number, link: (next: JsonObject) => JsonObject): JsonObject => ({
  $ref: "#/$defs/0",
  $defs: Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      String(at),
      at === count - 1 ? { type: "string" } : link({ $ref: `#/$defs/${at + 1}` }),
    ]),
  ),
});

const nested = (levels: number): JsonObject => (levels === 0 ? {} : { x: nested(levels - 1) });

const stepsOf = (schema: JsonObject, value: Parameters<typeof issuesOf>[1]): number => {
  const budget = { left: checkStepsMax };
  issuesOf(schema, value, budget);
  return checkStepsMax - budget.left;
};

test.each<[string, (next: JsonObject) => JsonObject]>([
  ["allOf", (next) => ({ allOf: [next, next] })],
  ["anyOf", (next) => ({ anyOf: [next, next] })],
  ["oneOf", (next) => ({ oneOf: [next, next] })],
  ["not and allOf", (next) => ({ not: { allOf: [next, next] } })],
  // oxlint-disable-next-line unicorn/no-thenable -- the keyword is called so
  ["if, then and else", (next) => ({ if: next, then: next, else: next })],
  ["allOf beside a reference", (next) => ({ ...next, allOf: [next] })],
])("definitions that each apply the next one twice, by %s, take a bounded number of steps each", (_, link) => {
  const schema = chained(32, link);
  expect(problemOfSchema(schema)).toBeNull();
  for (const value of [1, "a"]) expect(stepsOf(schema, value)).toBeLessThan(32 * 50);
});

test("an issue that many branches of a schema report is listed once", () => {
  expect(
    issuesOf(
      chained(32, (next) => ({ allOf: [next, next] })),
      1,
    ),
  ).toEqual([{ path: [], message: "expected string, received number" }]);
});

test("a schema that applies itself twice to each member takes steps in proportion to the value", () => {
  const schema = { properties: { x: { allOf: [{ $ref: "#" }, { $ref: "#" }] } } };
  expect(stepsOf(schema, nested(200)) / stepsOf(schema, nested(100))).toBeLessThan(2.1);
});

const long = "a".repeat(1_000);
const names = Array.from({ length: 1_000 }, (_, at) => `n${at}`);

test.each<[string, JsonObject, Parameters<typeof issuesOf>[1], steps: number]>([
  ["the characters of a text", {}, long, 1_001],
  ["the elements of a list", { items: {} }, names.map(Number), 2_001],
  ["the issues of a list", { items: false }, names, 2_001],
  ["the elements that are compared", { uniqueItems: true }, [long, long], 2_005],
  ["the members of an object", {}, Object.fromEntries(names.map((name) => [name, 1])), 1_001],
  ["the members that are missing", { required: names }, {}, 2_001],
  ["the patterns for members", { patternProperties: Object.fromEntries(names.map((name) => [name, {}])) }, {}, 1_001],
  ["a reference", { $ref: `#/${long}` }, 1, 1_003],
  ["both texts of a comparison", { const: long }, long, 3_005],
  ["a pattern and its states", { pattern: long }, "b", 2_009],
])("a check counts %s as steps", (_, schema, value, steps) => {
  expect(stepsOf(schema, value)).toBe(steps);
});

test.each<[string, JsonObject, Parameters<typeof issuesOf>[1]]>([
  ["a long text and a wide pattern", { pattern: "[ab].{1,4000}!" }, "ab".repeat(100_000)],
  [
    "a long name and many patterns that match at once",
    { patternProperties: Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`|${at}`, true])) },
    { ["a".repeat(200_000)]: 1 },
  ],
  [
    "many elements and a long enumeration",
    { items: { enum: Array.from({ length: 9_000 }, String) } },
    Array.from({ length: 9_000 }, () => -1),
  ],
])("a check of %s ends with an issue after a bounded number of steps", (_, schema, value) => {
  expect(problemOfSchema(schema)).toBeNull();
  const budget = { left: checkStepsMax };
  expect(issuesOf(schema, value, budget)).toEqual([
    { path: [], message: "cannot be checked within 10000000 steps; send less, or a simpler value" },
  ]);
  expect(budget.left).toBeGreaterThan(-checkStepsMax / 10);
});

test("a chain of definitions that would overflow the stack is refused, and a check of it ends with an issue", () => {
  const schema = chained(9_000, (next) => next);
  expect(problemOfSchema(schema)).toContain("leads through more than 100 other schemas for one value");
  expect(issuesOf(schema, 1)).toEqual([{ path: [], message: "is nested too deep to be checked; send less" }]);
});

test.each<[unknown, string]>([
  [{ properties: { a: { pattern: "(a)\\1" } } }, 'properties.a: pattern "(a)\\\\1": a reference back to a group'],
  [{ patternProperties: { "(": {} } }, "Unterminated group"],
  [{ properties: "none" }, 'properties must be an object (got "none")'],
  [{ type: "text" }, 'type must be one or some of string, number, integer, boolean, object, array, null (got "text")'],
  [{ items: { $ref: "https://example.org/a" } }, 'items: $ref "https://example.org/a": it leads to no place'],
  [{ allOf: [{ minLength: "1" }] }, 'allOf.0: minLength must be a whole number ≥ 0 (got "1")'],
  [{ anyOf: [4] }, "anyOf.0: it must be a schema"],
  [{ anyOf: Array.from({ length: 10_000 }, () => true) }, "more than 10000 parts"],
  [{ $ref: "#/x", x: { pattern: "(a)\\1" } }, '#/x: pattern "(a)\\\\1": a reference back to a group'],
  [{ $ref: "#/enum/0", enum: [{ $ref: "#/b" }], b: { type: "text" } }, "#/b: type must be"],
  [
    { patternProperties: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`a{9990}${at}`, {}])) },
    "the patterns of the schema have more than 1000000 parts together",
  ],
  [null, "it must be a schema"],
  [nested(300), "is nested too deep"],
])("an invalid schema is refused with the place and the reason, case %$", (schema, problem) => {
  expect(problemOfSchema(schema)).toContain(problem);
});

test.each<[JsonObject]>([
  [{ properties: { pattern: { pattern: "^a" }, $ref: { type: "string" } }, required: ["pattern"] }],
  [{ enum: [{ pattern: "(" }], const: { type: 4 }, default: { $ref: "nowhere" }, examples: [{ items: 1 }] }],
  [{ $ref: "#/$defs/a", $defs: { a: { items: { $ref: "#" } } } }],
  [{ type: ["object", "null"], items: [{}], format: "uri", contains: 4 }],
])("the schema %j is accepted", (schema) => {
  expect(problemOfSchema(schema)).toBeNull();
});

const { schema: hostileSchema } = fc.letrec<{ schema: JsonObject; value: unknown }>((tie) => {
  const one = fc.oneof({ maxDepth: 4, depthSize: "small" }, fc.boolean(), tie("schema"), fc.jsonValue({ maxDepth: 1 }));
  const some = fc.array(one, { maxLength: 3 });
  const named = fc.dictionary(fc.constantFrom("a", "b", "^(a+)+$", "("), one, { maxKeys: 3 });
  const reference = fc.constantFrom("#", "#/$defs/a", "#/$defs/b/anyOf/0", "#/properties/a", "elsewhere");
  const pattern = fc.constantFrom("^(a+)+$", "(", "(?=(a*)*b)", "(a)\\1");
  return {
    value: one,
    schema: fc.record(
      {
        $ref: reference,
        pattern,
        allOf: some,
        anyOf: some,
        oneOf: some,
        prefixItems: some,
        not: one,
        if: one,
        else: one,
        items: one,
        additionalProperties: one,
        properties: named,
        patternProperties: named,
        $defs: named,
      },
      { requiredKeys: [] },
      // The values that fast-check draws are JSON.
    ) as fc.Arbitrary<JsonObject>,
  };
});

property.prop([hostileSchema, fc.jsonValue({ maxDepth: 4 })])(
  "inspecting any schema ends, and a check takes steps in proportion to the sizes of schema and value",
  (schema, value) => {
    // Both are JSON; fast-check types it differently.
    const json = value as Parameters<typeof issuesOf>[1];
    expect(problemOfSchema(schema)).not.toBe("");
    const size = JSON.stringify(schema).length * JSON.stringify(value).length;
    expect(stepsOf(schema, json)).toBeLessThan(100 + size * 10);
  },
);

const trueFor = (count: number): JsonObject => Object.fromEntries(Array.from({ length: count }, (_, at) => [at, true]));
/** Returns a schema with patterns of 5003 parts each, and another pattern. */
const wide = (count: number, other: string): JsonObject => ({
  allOf: [...Array.from({ length: count }, () => ({ pattern: "\\p{L}" })), { pattern: other }],
});

test.each<[string, JsonObject, JsonObject, reason: string]>([
  ["10000 parts", { properties: trueFor(9_999) }, { properties: trueFor(10_000) }, "more than 10000 parts"],
  ["a chain of 100", chained(99, (next) => next), chained(100, (next) => next), "more than 100 other schemas"],
  ["patterns of a million parts", wide(199, "a{4400}"), wide(199, "a{4401}"), "more than 1000000 parts together"],
  ["a quoted value of 200 characters", {}, { type: "x".repeat(198) }, `(got "${"x".repeat(198)}")`],
  ["a quoted value of 201 characters", {}, { type: "x".repeat(199) }, `(got "${"x".repeat(199)}…)`],
])("a schema with %s is taken or quoted whole, and one with more is not", (_, taken, refused, reason) => {
  expect([problemOfSchema(taken), problemOfSchema(refused)]).toEqual([null, expect.stringContaining(reason)]);
});

test("a value is checked 800 schemas deep", () => {
  const step = (to: string): JsonObject => ({ properties: { x: { $ref: to } } });
  expect(issuesOf({ $ref: "#/$defs/a", $defs: { a: step("#/$defs/a") } }, nested(399))).toEqual([]);
  expect(issuesOf(step("#"), nested(400))).toMatchObject([{ message: expect.stringContaining("nested too deep") }]);
});

test("a tool and an output with a pattern that is not linear are refused when they are made", () => {
  const jsonSchema = { type: "object", properties: { a: { type: "string", pattern: "(a)\\1" } } };
  expect(() => tool({ name: "t", description: "", input: { jsonSchema }, run: () => null })).toThrow(
    'tool "t": input.jsonSchema: properties.a: pattern "(a)\\\\1": a reference back to a group is not supported',
  );
  const output = wantedOutput({ schema: { jsonSchema }, name: "o", mode: "prompted" });
  expect(output).toEqual(Either.left(expect.stringContaining("ask: output.schema.jsonSchema: properties.a: pattern")));
});
