import type { StandardSchema } from "@colloquy/host";
import { expect, test } from "vitest";
import { checkText, checkValue } from "../../src/output/check.ts";
import { manualClock } from "../stage.ts";

const anything = { schema: null, jsonSchema: {} };

/** Makes a validator whose schema gives the same result for every value. */
const giving = (result: unknown) => {
  // Foreign code may return anything.
  const validate = () => result as { readonly value: unknown };
  const schema: StandardSchema = { "~standard": { version: 1, vendor: "own", validate } };
  return { schema, jsonSchema: {} };
};

test.each<readonly [text: string, value: unknown]>([
  ['{"a":1}', { a: 1 }],
  ["```\n[1]\n```", [1]],
  ["```json5-x\n[1]```", [1]],
  ["  ```[1]```  ", [1]],
  ["```json\n[1]", undefined],
  ["[1]```", undefined],
  ["a[1]```", undefined],
  ["[1]\n```\n[2]\n```", undefined],
])("the text %j is an answer only if it is JSON as a whole or in one code fence", (text, value) => {
  expect(checkText(text, anything, manualClock())).toMatchObject(
    value === undefined ? { type: "invalid" } : { type: "valid", value, output: value },
  );
});

test("an answer may be nested 200 levels deep, and no deeper", () => {
  const checked = [200, 201].map((levels) =>
    checkText("[".repeat(levels) + "]".repeat(levels), anything, manualClock()),
  );
  expect(checked).toMatchObject([
    { type: "valid" },
    { type: "invalid", issues: [{ message: expect.stringContaining("nested too deep") }] },
  ]);
});

test("an issue of an answer keeps indices and short keys in its path, and each other key as a text", () => {
  const path = [0, 7, -1, 0.5, "a", { key: 3 }, Symbol("s"), "k".repeat(100), "k".repeat(101)];
  const issues = [{ message: "wrong", path }, { message: "wrong" }, { message: "wrong", path: [] }];
  expect(checkValue(1, giving({ issues }), manualClock())).toEqual({
    type: "invalid",
    issues: [
      { message: "wrong", path: [0, 7, "-1", "0.5", "a", 3, "Symbol(s)", "k".repeat(100), `${"k".repeat(100)}…`] },
      { message: "wrong" },
      { message: "wrong" },
    ],
  });
});

test("an answer has at most 20 issues, of at most 400 characters and 200 keys each, and the number of the others", () => {
  const issue = { message: "m".repeat(401), path: Array.from({ length: 201 }, () => 1) };
  const checked = [20, 21].map((count) => {
    const issues = Array.from({ length: count }, () => issue);
    return checkValue(1, giving({ issues }), manualClock());
  });
  const shown = { message: `${"m".repeat(400)}…`, path: Array.from({ length: 200 }, () => 1) };
  const shownIssues = Array.from({ length: 20 }, () => shown);
  expect(checked).toEqual([
    { type: "invalid", issues: shownIssues },
    { type: "invalid", issues: [...shownIssues, { message: "and 1 more" }] },
  ]);
});

test("a validator has 30 seconds for its answer, and leaves no timer behind", async () => {
  const clock = manualClock();
  const late = Promise.withResolvers<unknown>();
  const inTime = Promise.withResolvers<unknown>();
  const checked = [late, inTime].map(async ({ promise }) => checkValue(1, giving(promise), clock));
  await clock.advance(29_999);
  inTime.resolve({ value: "one" });
  await clock.advance(0);
  expect(clock.sleepers).toBe(1);
  await clock.advance(1);
  late.resolve({ value: "late" });
  expect(await Promise.all(checked)).toEqual([
    { type: "failed", reason: "the validator did not answer within 30000 ms" },
    { type: "valid", value: 1, output: "one" },
  ]);
  expect(clock.sleepers).toBe(0);
});

test("a validator whose result has a value that is undefined accepts the answer", () => {
  expect(checkValue(1, giving({ value: undefined }), manualClock())).toEqual({
    type: "valid",
    value: 1,
    output: undefined,
  });
});
