import { describe, expect, test } from "vitest";
import {
  describePath,
  describeValueProblem,
  isCount,
  NotPlain,
  plainCopy,
  preview,
} from "../../src/thread/plain-data.ts";

class Apple {
  readonly size = 1;
}
class Pear {
  readonly size = 1;
}

const copyOf = (value: unknown, levels?: number, read?: (object: object) => unknown): unknown => {
  const copy = plainCopy(value, levels, read);
  return copy instanceof NotPlain ? describeValueProblem(copy.problem, "it") : copy;
};

const noWord = "which JSON has no word for";
const tooDeep = "is nested too deep, or holds itself";
const isoText = (object: object): unknown => (object instanceof Date ? object.toISOString() : object);
const inherited: unknown = Object.create({ old: 1 });
const nameless = new (class {
  readonly size = 1;
})();

describe("a copy of plain data, as JSON has it", () => {
  test.each<readonly [string, unknown, unknown]>([
    ["null", null, null],
    ["a text", "a", "a"],
    ["true", true, true],
    ["a number", 1.5, 1.5],
    ["a negative zero", [-0], [0]],
    ["an absent member", { a: undefined, b: { c: "d" } }, { b: { c: "d" } }],
    ["a member that a symbol names", { [Symbol("s")]: 1, a: [] }, { a: [] }],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ["undefined", undefined, `it is undefined, ${noWord}`],
    ["a hole in a list", [0, undefined], `1 is undefined, ${noWord}`],
    ["NaN", { a: [Number.NaN] }, `a.0 is NaN, ${noWord}`],
    ["a bigint", 1n, `it is a bigint, ${noWord}`],
    ["a function in a member", { a: () => 1 }, `a is a function, ${noWord}`],
    ["an instance", [new Apple()], `0 is an Apple, ${noWord}; give what it says as text or plain data`],
    ["another instance", new Pear(), `it is a Pear, ${noWord}; give what it says as text or plain data`],
    ["a nameless instance", nameless, expect.stringContaining("it is an instance of a class, ")],
    ["inherited members", inherited, expect.stringContaining("it is an Object, ")],
    ["__proto__", JSON.parse('{"__proto__":1}'), expect.stringContaining('it has a member "__proto__"')],
  ])("of %s", (_, value, expected) => {
    const copy = copyOf(value);
    expect(copy).toEqual(expected);
    expect(Object.is(copy, -0)).toBe(false);
    expect(Object.isFrozen(copy)).toBe(true);
  });

  test.each<readonly [string, unknown, number, ((object: object) => unknown) | undefined, unknown]>([
    ["at its depth", { a: [1] }, 2, undefined, { a: [1] }],
    ["one level too deep", { a: [1] }, 1, undefined, `a ${tooDeep}`],
    ["of values that are read, at its depth", { a: [new Date(0)] }, 3, isoText, { a: ["1970-01-01T00:00:00.000Z"] }],
    ["of values that are read, one level too deep", { a: [new Date(0)] }, 2, isoText, `a.0 ${tooDeep}`],
    ["of a value that is read as a list", new Date(0), 2, (one) => (one instanceof Date ? [1] : one), [1]],
    [
      "of a value that is read as a deeper list",
      new Date(0),
      2,
      (one) => (one instanceof Date ? [[1]] : one),
      `0 ${tooDeep}`,
    ],
    ["of a value that is read as nothing", [new Date(0)], 9, () => undefined, `it is undefined, ${noWord}`],
    [
      "of a member that is read as nothing",
      [new Date(0)],
      9,
      (one) => (one instanceof Date ? undefined : one),
      `0 is undefined, ${noWord}`,
    ],
  ])("%s", (_, value, levels, read, expected) => {
    expect(copyOf(value, levels, read)).toEqual(expected);
  });

  test("of an endless value ends at 256 levels", () => {
    const self: unknown[] = [];
    self.push(self);
    expect(copyOf(self)).toMatch(/^0(\.0){15}\.… \(256 levels down\) is nested too deep/);
  });
});

describe("in an error", () => {
  test.each([
    [16, /^m(\.m){15}$/],
    [17, /^m(\.m){15}\.… \(17 levels down\)$/],
  ])("a path of %i names is shown with at most 16", (length, expected) => {
    expect(describePath(Array.from({ length }, () => "m"))).toMatch(expected);
  });

  const self: { self?: unknown } = {};
  self.self = self;
  test.each<readonly [string, unknown, string]>([
    ["a text", "a", '"a"'],
    ["a long text", "a".repeat(158), `"${"a".repeat(158)}"`],
    ["a longer text", "a".repeat(159), `"${"a".repeat(159)}…`],
    ["a number", 5, "5"],
    ["nothing", undefined, "undefined"],
    ["null", null, "null"],
    ["an object with no number", { a: [Number.NaN, 1, "b"] }, '{"a":["NaN",1,"b"]}'],
    ["a function", () => 1, "a function"],
    ["a promise", Promise.resolve(), "a promise"],
    ["what holds itself", self, "an object"],
    ["what JSON leaves out", { toJSON: () => undefined }, "an object"],
  ])("%s is shown on one line", (_, value, expected) => {
    expect(preview(value)).toBe(expected);
  });
});

test("a count is a whole number from 0 on", () => {
  expect([0, 7, -1, 0.5, Number.NaN, 2 ** 53, "1", null].map(isCount)).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
    false,
    false,
  ]);
});
