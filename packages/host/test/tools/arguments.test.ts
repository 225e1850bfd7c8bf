import { expect, test } from "vitest";
import type { SchemaResult, StandardSchema } from "../../src/tools/schema.ts";
import { approvableArguments, readArguments } from "../../src/tools/arguments.ts";

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

test("a tool takes arguments that are nested 200 levels deep, and the model is told of one level more", () => {
  const read = [200, 201].map((levels) => readArguments(`{"a":${nested(levels - 1)}}`, null, {}));
  expect(read).toMatchObject([
    { value: { a: expect.anything() } },
    { problem: expect.stringContaining("is nested too deep") },
  ]);
});

test.each([
  ["", {}],
  [" \n", {}],
  ["null", {}],
  ["0", 0],
  ["false", false],
  ['{"a":1}', { a: 1 }],
])("a tool reads the written arguments %j as %j", (written, value) => {
  expect(readArguments(written, null, {})).toEqual({ value, parsed: value });
});

test("a tool gets the value of its schema, at once or later, or the model gets the issues", async () => {
  const giving = (result: SchemaResult<unknown>, isLater: boolean): StandardSchema => ({
    "~standard": { version: 1, vendor: "own", validate: () => (isLater ? Promise.resolve(result) : result) },
  });
  for (const isLater of [false, true]) {
    const read = readArguments('{"a":"1"}', giving({ value: { a: 1 } }, isLater), {});
    expect(read instanceof Promise).toBe(isLater);
    expect(await read).toEqual({ value: { a: 1 }, parsed: { a: "1" } });
    const issues = [{ message: "no number", path: ["a"] }];
    expect(await readArguments('{"a":"1"}', giving({ issues }, isLater), {})).toEqual({
      problem: 'The arguments do not fit: "a": no number. Call again with arguments that do.',
    });
  }
});

test.each<[what: string, value: unknown, isShown: boolean]>([
  ["plain data", { a: [1, { b: null }], c: "x" }, true],
  ["a text", "x", true],
  ["nothing", null, true],
  ["a date", new Date(0), false],
  ["a member that is named by a symbol", { a: 1, [Symbol("s")]: 2 }, false],
  ["such a member deep inside", { a: [{ [Symbol("s")]: 2 }] }, false],
  ["a hidden member", Object.defineProperty({}, "a", { value: 1 }), false],
  ["a list with a named member", Object.assign([1], { a: 1 }), false],
])(
  "a person approves validated arguments if JSON shows all of them, and otherwise the written ones: %s",
  (...given) => {
    const [, value, isShown] = given;
    expect(approvableArguments({ value, parsed: "written" })).toEqual(isShown ? value : "written");
  },
);

test("a person approves validated arguments that are nested 200 levels deep, and the written ones beyond that", () => {
  const approved = [200, 201].map((levels) =>
    approvableArguments({ value: JSON.parse(nested(levels)), parsed: "written" }),
  );
  expect(approved).toEqual([JSON.parse(nested(200)), "written"]);
});
