import { expect, test } from "vitest";
import { graphemesOf, widthOf } from "../../../src/terminal/text/wrap.ts";

test.each([
  ["", 0, 0],
  ["plain", 5, 5],
  ["日本語", 3, 6],
  ["e\u0301", 1, 1],
  ["👩‍👩‍👧‍👦", 1, 2],
  ["🇩🇪🇫🇷", 2, 4],
  ["한국어", 3, 6],
  ["a\nb", 3, 2],
])("%j has %d graphemes and takes %d cells", (text, graphemes, width) => {
  expect(graphemesOf(text)).toHaveLength(graphemes);
  expect(graphemesOf(text).join("")).toBe(text);
  expect(widthOf(text)).toBe(width);
});
