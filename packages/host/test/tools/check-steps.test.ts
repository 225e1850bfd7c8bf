import type { Json, JsonObject } from "@colloquy/machine";
import { expect, test } from "vitest";
import { checkStepsMax, issuesOf } from "../../src/tools/json-schema.ts";

const stepsOf = (schema: JsonObject, value: Json): number => {
  const budget = { left: checkStepsMax };
  issuesOf(schema, value, budget);
  return checkStepsMax - budget.left;
};

// Each schema that is applied costs one step, and a text its length.
test.each<readonly [what: string, schema: JsonObject, value: Json, steps: number]>([
  ["nothing but the schema for a number", { minimum: 1 }, 5, 1],
  ["a text by its length", {}, "abcde", 6],
  ["a pattern by its length, its size, and the steps of matching", { pattern: "^a" }, "ab", 17],
  ["a pattern that is invalid by its length", { pattern: "((((" }, "ab", 7],
  ["each option of an enum up to the right one, and the value", { enum: ["aa", "bb", "cc"] }, "bb", 15],
  ["a constant and the value", { const: [1, 2, 3] }, [1, 2], 13],
  ["each element that must be unique", { uniqueItems: true }, [10, 200], 6],
  ["each element", { items: { minimum: 1 } }, [1, 2, 3], 7],
  ["each member, and each required one", { required: ["a", "b", "c"] }, { a: 1, b: 2 }, 7],
  ["each pattern of members", { patternProperties: { b: {}, c: {} } }, { a: 1 }, 22],
  ["a reference by its length", { $ref: "#/$defs/a", $defs: { a: { minimum: 1 } } }, 5, 11],
  ["each issue at every level on which it is listed", { allOf: [{ allOf: [{ minimum: 9 }] }] }, 5, 5],
])("a check by a JSON Schema is charged for %s", (_, schema, value, steps) => {
  expect(stepsOf(schema, value)).toBe(steps);
});

const nested = (levels: number): JsonObject => {
  let schema: JsonObject = { minimum: 9 };
  for (let level = 1; level < levels; level++) schema = { allOf: [schema] };
  return schema;
};

test("a check by a JSON Schema goes 800 schemas deep and no deeper, however many schemas it has applied before", () => {
  const among = (schema: JsonObject): JsonObject => ({ allOf: [...Array.from({ length: 900 }, () => ({})), schema] });
  const wordsOf = (schema: JsonObject): readonly string[] => issuesOf(schema, 5).map(({ message }) => message);
  const wrong = ["expected 9 or more"];
  const tooDeep = ["is nested too deep to be checked; send less"];
  expect([nested(800), nested(801), among(nested(799)), among(nested(800))].map(wordsOf)).toEqual([
    wrong,
    tooDeep,
    wrong,
    tooDeep,
  ]);
});

test("a check by a JSON Schema may take all the steps that are left, and not one more", () => {
  const wordsWith = (left: number): readonly string[] =>
    issuesOf({ minimum: 9 }, 5, { left }).map(({ message }) => message);
  expect([wordsWith(1), wordsWith(0)]).toEqual([
    ["expected 9 or more"],
    ["cannot be checked within 10000000 steps; send less, or a simpler value"],
  ]);
});
