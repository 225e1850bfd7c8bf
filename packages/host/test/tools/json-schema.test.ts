import type { Json, JsonObject } from "@colloquy/machine";
import { fc, test as property } from "@fast-check/vitest";
import { expect, test } from "vitest";
import * as Either from "fp-ts/lib/Either.js";
import { issuesOf } from "../../src/tools/json-schema.ts";
import { patternOf } from "../../src/tools/pattern.ts";
import { issuesInWords } from "../../src/tools/schema.ts";

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
  [
    "anyOf with two references to one definition",
    { $defs: { a: { type: "string" } }, anyOf: [{ $ref: "#/$defs/a" }, { allOf: [{ $ref: "#/$defs/a" }] }] },
    "a",
    1,
  ],
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
  for (const multipleOf of [0, -2]) expect(issuesOf({ multipleOf }, 5)).toEqual([]);
});

test("issues in words are as many and as long as a model can use", () => {
  const issues = Array.from({ length: 1_000 }, (_, at) => ({ path: [at], message: "-a".repeat(2_000) }));
  const words = issuesInWords(issues);
  expect(words).toMatch(/^"0": (?:-a){200}…; "1": .*; and 980 more$/);
  expect(words.length).toBeLessThan(9_000);
});

const matched = (source: string, text: string): { readonly matches: boolean; readonly steps: number } => {
  const pattern = patternOf(source);
  if (Either.isLeft(pattern)) throw new Error(`${source}: ${pattern.left}`);
  let steps = 0;
  const matches = pattern.right.test(text, (more) => (steps += more));
  return { matches, steps };
};

const atom = fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "\\w", "\\d", "^", "$", "\\b", "\\B", "é", "\\u00E9");
const { pattern: drawnPattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    atom,
    fc.array(tie("pattern"), { maxLength: 3 }).map((parts) => parts.join("")),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => `(?:${left}|${right})`),
    fc
      .tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "*?", "{2}", "{0,2}", "{1,}", "{0}"))
      .map(([part, times]) => `(${part})${times}`),
    fc.tuple(fc.constantFrom("?=", "?!", "?<=", "?<!"), tie("pattern")).map(([look, part]) => `(${look}${part})`),
  ),
}));
// No surrogate pairs, since V8 finds none in /(?:[^a]|a)$/u.
const drawnText = fc.array(fc.constantFrom("a", "b", "0", "é", "ß", " ", "\n"), { maxLength: 8 });

property.prop([drawnPattern, drawnText])("a pattern matches what JavaScript matches by it", (source, text) => {
  expect(matched(source, text.join("")).matches).toBe(new RegExp(source, "u").test(text.join("")));
});

test.each([
  ["^(?=.{1,253}\\.?$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\\.[a-z0-9]+)*\\.?$", "a.example.org", "a..b"],
  ["^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?)?)$", "P1YT2H", "P1W2D"],
  ["^(?<year>\\d{4})-\\d\\d$", "2026-01", "26-01"],
  ["^[\\]\\\\/^-]\\x41\\u0042\\uD83D\\uDE00\\cJ\\0\\/$", "]AB😀\n\0/", "aAB😀\n\0/"],
  ["^\\p{Lu}\\P{Lu}+?$", "Ab", "ab"],
  ["^[^]{2}$", "\n😀", "a"],
  ["\\bb", "a b", "ab"],
  ["b\\b", "b a", "ba"],
  ["\\Bb", "ab", "a b"],
  ["^a{2}$", "aa", "aaa"],
  ["^a{1,}$", "aa", ""],
  ["^a{1,2}$", "aa", "aaa"],
])("the pattern %s is matched as JavaScript does", (source, fits, does) => {
  expect(matched(source, fits).matches).toBe(true);
  expect(matched(source, does).matches).toBe(false);
});

test.each([
  "^(a+)+$",
  "^(a|a)*$",
  "^(a|aa)+$",
  "(a*)*b",
  "(.*)(.*)(.*)(.*)(.*)x",
  "^(?=(a+)+$)(?!(a*)*b)a",
  "(?<=^(a+)+)c",
  "(?=.*x)(?=.*y)(a|a?)+$",
])("matching %s takes steps in proportion to the text", (source) => {
  const stepsOf = (length: number): number => matched(source, `${"a".repeat(length)}!`).steps;
  expect(stepsOf(20_000) / stepsOf(10_000)).toBeLessThan(2.1);
  expect(stepsOf(10_000)).toBeLessThan(10_000 * 60);
});

test("matching stops at the first place at which the pattern has matched", () => {
  expect(matched("a", `a${"b".repeat(1_000)}`).steps).toBeLessThan(1_020);
});

test("a long text is counted for each pattern that is tried with it, and a property of Unicode for what it takes", () => {
  expect(matched("|a", "b".repeat(1_000)).steps).toBeGreaterThan(1_000);
  const sizeOf = (source: string): number => Either.getOrElse(() => ({ size: 0 }))(patternOf(source)).size;
  expect(sizeOf("[\\p{L}\\P{N}]") - sizeOf("a")).toBe(10_000);
});

test("a pattern may have more than a hundred groups, as long as they are not nested deeper than that", () => {
  const pattern = `${"(a)?".repeat(200)}${"(".repeat(100)}b${")".repeat(100)}`;
  expect([matched(pattern, "aab").matches, matched(pattern, "aa").matches]).toEqual([true, false]);
});

test.each([
  ["(a)\\1", "reference back"],
  ["(?<a>a)\\k<a>", "reference back"],
  ["(?i:a)", "flags"],
  ["(a{1000}){1000}", "more than 10000 parts"],
  ["((((){9999}){9999}){9999}){9999}", "more than 10000 parts"],
  ["a{4000000000}", "more than 10000 parts"],
  ["(".repeat(101) + ")".repeat(101), "nested more than 100 deep"],
  ["()".repeat(200) + "(".repeat(101) + ")".repeat(101), "nested more than 100 deep"],
  ["(?=".repeat(900) + ")".repeat(900), "nested more than 100 deep"],
  [`[${"ab".repeat(5_000_000)}]`, "longer than 100000 characters"],
  ["(", "Unterminated group"],
  [`${"a".repeat(300)}(`, "Unterminated group"],
  ["(?i)a", "Invalid group"],
])("a pattern that cannot be matched in linear time is refused with the reason: %s", (source, reason) => {
  const pattern = patternOf(source);
  expect(pattern).toEqual(Either.left(expect.stringContaining(reason)));
  // A foreign pattern may be long.
  expect(Either.isLeft(pattern) && pattern.left.length).toBeLessThan(100);
});

// Beside a repeated character, a pattern has a choice, a sequence and the repetition.
test.each([
  ["nested 100 deep", "()".repeat(200) + "(".repeat(100) + ")".repeat(100), "(".repeat(101) + ")".repeat(101)],
  ["of 10000 parts", "a{9997}", "a{9998}"],
  ["of 100000 characters", `[${"a".repeat(99_998)}]`, `[${"a".repeat(99_999)}]`],
])("a pattern %s is matched, and one with one more is refused", (_, source, over) => {
  expect([source, over].map((each) => Either.isRight(patternOf(each)))).toEqual([true, false]);
});
