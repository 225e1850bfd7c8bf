import fc from "fast-check";
import { expect, test } from "vitest";
import { answerFilter } from "../../src/templates/index.ts";
import { runs } from "../../../../test/runs.ts";

const template = { stop: ["U:", "A:"], opening: ["A:"] };

const shownOf = (pieces: readonly string[], stop: readonly string[] = []): readonly string[] => {
  const filter = answerFilter(template, stop);
  return [...pieces.map(filter.push), filter.end()];
};

/** Returns the answer in a complete text. */
const answerIn = (text: string): string => {
  const written = text.trimStart().replace(/^A:/u, "");
  const end = written.search(/U:|A:/u);
  return (end < 0 ? written : written.slice(0, end)).trim();
};

test("an answer is shown without white space around it, and without the role that it begins with", () => {
  expect(shownOf([" ", "A", ":", " Hi ", "! \n", "\n", "U", ": x"])).toEqual(["", "", "", "Hi", " !", "", "", "", ""]);
  expect(shownOf(["A"])).toEqual(["", "A"]);
  expect(shownOf(["  \n"])).toEqual(["", ""]);
  expect(shownOf(["a STOP b"], ["STOP"])).toEqual(["a", ""]);
});

test("of a text, however it is cut, the same answer is shown", () => {
  const text = fc.string({ unit: fc.constantFrom("A", "U", ":", " ", "x"), maxLength: 6 });
  fc.assert(
    fc.property(fc.array(text, { maxLength: 6 }), (pieces) => {
      expect(shownOf(pieces).join("")).toBe(answerIn(pieces.join("")));
    }),
    { numRuns: runs(6000) },
  );
});
