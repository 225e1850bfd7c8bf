import { createHash } from "node:crypto";

import * as fc from "fast-check";
import { expect, test } from "vitest";

import { idOf, isShortened, nameOf } from "../../../src/stores/files/file-name.ts";
import { runs } from "../../../../../test/runs.ts";

/** Ids that file systems confuse, interpret or refuse. */
const id = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc
    .array(fc.constantFrom("a", "A", "e\u0301", "é", "É", "%", "41", "-", "_", ".", "/", "\\", ":", "\0", " ", "con"), {
      maxLength: 6,
    })
    .map((parts) => parts.join("")),
  fc.string({ unit: "binary", minLength: 60, maxLength: 1000 }),
);

test("an id is told by its name, but where the name is shortened", () => {
  fc.assert(
    fc.property(id, (threadId) => {
      const name = nameOf(threadId);
      expect(idOf(name)).toBe(isShortened(name) ? null : threadId);
    }),
  );
});

test("two ids never have names that a file system takes for one", () => {
  fc.assert(
    fc.property(fc.uniqueArray(id, { minLength: 2, maxLength: 8 }), (ids) => {
      const names = ids.map((each) => nameOf(each).normalize("NFD").toLowerCase());
      expect(new Set(names).size).toBe(ids.length);
    }),
    { numRuns: runs(500) },
  );
});

test("a name is safe to stand in any folder, with its ending and a number before it", () => {
  fc.assert(
    fc.property(id, (threadId) => {
      const name = nameOf(threadId);
      expect(name).toMatch(/^[a-zA-Z0-9_%][a-zA-Z0-9_%-]*$/);
      expect(name).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)$/i);
      expect(name.length).toBeLessThanOrEqual(200);
    }),
    { numRuns: runs(500) },
  );
});

test.each([
  ["order-17", "order-17"],
  ["Order 17", "%4Frder%2017"],
  ["..", "%2E%2E"],
  ["con", "%63on"],
  ["-rf", "%2Drf"],
  ["é", "%C3%A9"],
  ["", "%"],
])("%j is called %s", (threadId, name) => {
  expect(nameOf(threadId)).toBe(name);
  expect(idOf(name)).toBe(threadId);
});

test.each(["Order", "a.b", "%41%", "%6f", "%zz", "con", "-rf", "%ff"])("%s is the name of no id", (name) => {
  expect(idOf(name)).toBeNull();
});

test("long ids of one beginning have names of their own", () => {
  const [one, other] = [nameOf(`${"x".repeat(300)}1`), nameOf(`${"x".repeat(300)}2`)];
  expect(one).not.toBe(other);
  expect([one, other].every(isShortened)).toBe(true);
  expect(nameOf("x".repeat(200))).toBe("x".repeat(200));
});

test.each([
  ["abcd".repeat(50), "abcd".repeat(50), ""],
  [`${"abcd".repeat(50)}e`, "abcd".repeat(30), "%-"],
  [`${"a".repeat(119)}${"é".repeat(40)}`, "a".repeat(119), "%-"],
  [`${"a".repeat(118)}${"é".repeat(40)}`, "a".repeat(118), "%-"],
  [`${"a".repeat(117)}${"é".repeat(40)}`, `${"a".repeat(117)}%C3`, "%-"],
])("a person finds the thread %s by the beginning of its id, in whole characters of the name", (long, begin, mark) => {
  const digest = mark === "" ? "" : createHash("sha256").update(long).digest("hex");
  expect(nameOf(long)).toBe(`${begin}${mark}${digest}`);
});
