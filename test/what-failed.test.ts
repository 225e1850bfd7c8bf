import { describe, expect, it } from "vitest";
import { whatFailed } from "../scripts/what-failed.ts";

const ofVitest = [
  " ✓ packages/a/test/a.test.ts (7 tests) 38ms",
  "⎯⎯⎯⎯ Failed Tests 2 ⎯⎯⎯⎯",
  "",
  "\u001B[41m FAIL \u001B[49m packages/a/test/b.test.ts > a law > holds (with seed=909907)",
  "Error: Property failed after 25 tests",
  '{ seed: 909907, path: "24:331", endOnFailure: true }',
  `Counterexample: [${"x".repeat(1000)}]`,
  " ❯ buildError node_modules/fast-check.js:2469:16",
  "",
  "Caused by: AssertionError: template 71: expected false not to be false",
  " ❯ packages/a/test/b.test.ts:115:5",
  "⎯⎯⎯⎯[1/2]⎯",
  " FAIL  packages/a/test/c.test.ts > is there",
  "AssertionError: expected 1 to be 2",
  "",
  "- Expected",
  "+ Received",
  "  the same",
  "+ another",
  "⎯⎯⎯⎯[2/2]⎯",
  "Test Files  2 failed",
].join("\n");

describe("what is said of a failed step", () => {
  it("is which tests failed, why, and from which seed", () => {
    expect(whatFailed(ofVitest)).toEqual([
      " FAIL  packages/a/test/b.test.ts > a law > holds (with seed=909907)",
      "   Error: Property failed after 25 tests",
      '   { seed: 909907, path: "24:331", endOnFailure: true }',
      "   Caused by: AssertionError: template 71: expected false not to be false",
      "    ❯ packages/a/test/b.test.ts:115:5",
      " FAIL  packages/a/test/c.test.ts > is there",
      "   AssertionError: expected 1 to be 2",
      "   + another",
    ]);
  });

  it("is what was thrown in no test, and in which file", () => {
    const lines = [
      " ✓ a.test.ts",
      "⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯",
      "Vitest caught 1 unhandled error during the test run.",
      "⎯⎯⎯⎯ Unhandled Rejection ⎯⎯⎯⎯",
      "StorageError: it was closed",
      " ❯ read a.ts:1:1",
      "⎯⎯⎯⎯",
      "Serialized Error: { kind: 'closed' }",
      'This error originated in "a.test.ts" test file.',
      "⎯⎯⎯⎯",
      "seconds of the processor",
    ];
    expect(whatFailed(lines.join("\n"))).toEqual([lines[3], `   ${lines[4]}`, `   ${lines[8]}`]);
  });

  it("is what a program printed last before a test failed", () => {
    const lines = [
      " FAIL  a.test.ts > starts",
      "Error: it ended with 1:",
      "one",
      "two",
      "three",
      "in use",
      " ❯ b.ts:1:1",
    ];
    expect(whatFailed(lines.join("\n"))).toEqual([
      lines[0],
      ...[lines[1], ...lines.slice(3, 6)].map((line) => `   ${line}`),
    ]);
  });

  it("is how its output ends where it has no tests", () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    expect(whatFailed(lines.join("\n\n"))).toEqual(lines.slice(-15));
  });

  it("is short, however many tests failed", () => {
    const failed = whatFailed(
      Array.from({ length: 20 }, () => ` FAIL  a.test.ts\nError: ${"x".repeat(999)}`).join("\n"),
    );
    expect(failed).toHaveLength(16);
    expect(failed.at(-1)).toBe("… and 25 more lines");
    expect(Math.max(...failed.map(({ length }) => length))).toBeLessThan(250);
  });
});
