import fc from "fast-check";
import { expect, test } from "vitest";
import { stopFilter } from "../../src/templates/index.ts";
import { runs } from "../../../../test/runs.ts";

/** Returns the text shown after each piece, and at the end. */
const shownOf = (stops: readonly string[], pieces: readonly string[]): readonly string[] => {
  const filter = stopFilter(stops);
  return [...pieces.map(filter.push), filter.end()];
};

/** Returns the text before the first pattern. */
const before = (stops: readonly string[], text: string): string =>
  text.slice(
    0,
    Math.min(text.length, ...stops.filter((stop) => text.includes(stop)).map((stop) => text.indexOf(stop))),
  );

const alphabet = fc.string({ unit: fc.constantFrom("a", "b", ":", " "), maxLength: 12 });
const patterns = fc.array(fc.string({ unit: fc.constantFrom("a", "b", ":", " "), minLength: 1, maxLength: 4 }), {
  maxLength: 3,
});

test("a pattern that is cut across pieces is never shown", () => {
  const stops = ["Child :", "Child:"];
  expect(shownOf(stops, ["Hi! How ", "are you ?\n\nChi", "ld :", " I am"])).toEqual([
    "Hi! How ",
    "are you ?\n\n",
    "",
    "",
    "",
  ]);
  expect(shownOf(stops, ["Chi", "ldren", " Child"])).toEqual(["", "Children", " ", "Child"]);
});

test("a pattern that began earlier comes before one that ended earlier", () => {
  expect(shownOf(["ab", "xabc"], ["xab", "c"]).join("")).toBe("");
  expect(shownOf(["ab", "xabc"], ["xab", "d"]).join("")).toBe("x");
  expect(shownOf(["ab", "xabc"], ["xab"]).join("")).toBe("x");
});

test("a complete stop pattern ends the text at once, even if a longer pattern begins with it", () => {
  const filter = stopFilter(["ab", "abc"]);
  expect([filter.push("xab"), filter.stopped()]).toEqual(["x", true]);
});

test("the text before the first pattern is shown, however it is cut", () => {
  fc.assert(
    fc.property(patterns, fc.array(alphabet, { maxLength: 6 }), (stops, pieces) => {
      expect(shownOf(stops, pieces).join("")).toBe(before(stops, pieces.join("")));
    }),
    { numRuns: runs(4000) },
  );
});

test("only text that may still become a pattern waits", () => {
  fc.assert(
    fc.property(patterns, fc.array(alphabet, { maxLength: 6 }), (stops, pieces) => {
      const filter = stopFilter(stops);
      let text = "";
      let shown = "";
      for (const piece of pieces) {
        text += piece;
        shown += filter.push(piece);
        if (filter.stopped()) break;
        const waiting = text.slice(shown.length);
        // Some continuation of the waiting text starts with a pattern.
        expect(waiting === "" || stops.some((stop) => stop.startsWith(waiting) || waiting.startsWith(stop))).toBe(true);
      }
    }),
    { numRuns: runs(4000) },
  );
});

test("empty patterns are none, and nothing comes after the end", () => {
  expect(shownOf(["", ""], ["a", "b"])).toEqual(["a", "b", ""]);
  const filter = stopFilter(["b"]);
  expect(filter.push("a")).toBe("a");
  expect(filter.stopped()).toBe(false);
  expect(filter.push("b")).toBe("");
  expect(filter.stopped()).toBe(true);
  expect(filter.push("a") + filter.end()).toBe("");
});
