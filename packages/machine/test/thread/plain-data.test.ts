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

describe("plainCopy", () => {
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
    ["an instance of a class", [new Apple()], `0 is an Apple, ${noWord}; give what it says as text or plain data`],
    ["an instance at the root", new Pear(), `it is a Pear, ${noWord}; give what it says as text or plain data`],
    ["an instance of a nameless class", nameless, expect.stringContaining("it is an instance of a class, ")],
    ["inherited members", inherited, expect.stringContaining("it is an Object, ")],
    ["__proto__", JSON.parse('{"__proto__":1}'), expect.stringContaining('it has a member "__proto__"')],
  ])(
    "plainCopy copies a value that JSON can express, and describes the problem of any other: %s",
    (_, value, expected) => {
      const copy = copyOf(value);
      expect(copy).toEqual(expected);
      expect(Object.is(copy, -0)).toBe(false);
      expect(Object.isFrozen(copy)).toBe(true);
    },
  );

  test.each<readonly [string, unknown, number, ((object: object) => unknown) | undefined, unknown]>([
    ["a value of the maximum depth", { a: [1] }, 2, undefined, { a: [1] }],
    ["a value that is one level too deep", { a: [1] }, 1, undefined, `a ${tooDeep}`],
    ["converted values of the maximum depth", { a: [new Date(0)] }, 3, isoText, { a: ["1970-01-01T00:00:00.000Z"] }],
    ["converted values that are one level too deep", { a: [new Date(0)] }, 2, isoText, `a.0 ${tooDeep}`],
    ["a value that is converted to a list", new Date(0), 2, (one) => (one instanceof Date ? [1] : one), [1]],
    [
      "a value that is converted to a list that is too deep",
      new Date(0),
      2,
      (one) => (one instanceof Date ? [[1]] : one),
      `0 ${tooDeep}`,
    ],
    ["a root value that is converted to undefined", [new Date(0)], 9, () => undefined, `it is undefined, ${noWord}`],
    [
      "a member that is converted to undefined",
      [new Date(0)],
      9,
      (one) => (one instanceof Date ? undefined : one),
      `0 is undefined, ${noWord}`,
    ],
  ])("plainCopy converts values and limits the depth: %s", (_, value, levels, read, expected) => {
    expect(copyOf(value, levels, read)).toEqual(expected);
  });

  test("plainCopy stops at 256 levels of a value that contains itself", () => {
    const self: unknown[] = [];
    self.push(self);
    expect(copyOf(self)).toMatch(/^0(\.0){15}\.… \(256 levels down\) is nested too deep/);
  });
});

describe("a description in an error", () => {
  test.each([
    [16, /^m(\.m){15}$/],
    [17, /^m(\.m){15}\.… \(17 levels down\)$/],
  ])("describePath shows at most 16 names of a path of %i", (length, expected) => {
    expect(describePath(Array.from({ length }, () => "m"))).toMatch(expected);
  });

  const self: { self?: unknown } = {};
  self.self = self;
  test.each<readonly [string, unknown, string]>([
    ["a text", "a", '"a"'],
    ["a text of the maximum length", "a".repeat(158), `"${"a".repeat(158)}"`],
    ["a text that is one character too long", "a".repeat(159), `"${"a".repeat(159)}…`],
    ["a number", 5, "5"],
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
    ["an object with NaN", { a: [Number.NaN, 1, "b"] }, '{"a":["NaN",1,"b"]}'],
    ["a function", () => 1, "a function"],
    ["a promise", Promise.resolve(), "a promise"],
    ["an object that contains itself", self, "an object"],
    ["an object that JSON leaves out", { toJSON: () => undefined }, "an object"],
  ])("preview shows %s on one line", (_, value, expected) => {
    expect(preview(value)).toBe(expected);
  });
});

test("isCount accepts only whole numbers that are not negative", () => {
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
