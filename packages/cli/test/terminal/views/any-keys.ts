import fc from "fast-check";
import type { Key, Size, View } from "../../../src/terminal/index.ts";
import { widthOf } from "../../../src/terminal/text/wrap.ts";
import { textOfLine } from "./shown-text.ts";

/** Keys that views know, and others. */
export const keys: fc.Arbitrary<Key> = fc.oneof(
  fc
    .constantFrom(
      "up",
      "down",
      "pageup",
      "pagedown",
      "home",
      "end",
      "left",
      "right",
      "enter",
      "backspace",
      "ctrl+u",
      "f5",
    )
    .map((name): Key => ({ type: "key", name })),
  fc
    .constantFrom("j", "k", "g", "G", "n", "N", "/", "o", " ", "e", "jjk", "漢", "👩‍👩‍👧")
    .map((text): Key => ({ type: "text", text })),
  fc.string().map((text): Key => ({ type: "paste", text })),
);

/** Any screen size, also without room. */
export const sizes: fc.Arbitrary<Size> = fc.record({
  columns: fc.oneof(fc.integer({ min: 1, max: 30 }), fc.integer({ min: 1, max: 220 })),
  rows: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 60 })),
});

/** Texts as models, tools and journals write them. */
export const texts: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "a",
        "word ",
        "\n",
        "\t",
        "漢字",
        "👩‍👩‍👧‍👦",
        "e\u0301",
        "\u001b[31m",
        "\u0007",
        "x".repeat(70),
        "`code`",
        "| a | b |\n|---|---|\n",
      ),
      fc.string({ unit: "grapheme" }),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(""));

/** Returns the problem of a view's lines and cursor, or null. */
const problemOf = (view: View, size: Size): string | null => {
  const { lines, cursor } = view.show(size);
  if (lines.length > size.rows) return `${lines.length} lines on ${size.rows} rows`;
  const wide = lines.map(textOfLine).find((line) => /[\n\r]/.test(line) || widthOf(line) > size.columns - 1);
  if (wide !== undefined) return `too wide for ${size.columns} columns: ${JSON.stringify(wide)}`;
  if (cursor !== undefined && (cursor.row >= lines.length || cursor.column > Math.max(size.columns - 2, 0)))
    return `cursor at ${JSON.stringify(cursor)}`;
  return null;
};

/** Returns the first problem after any of the keys, each on a screen of another size, or null. */
export const problemAfter = async (
  first: View,
  presses: readonly { readonly key: Key; readonly size: Size }[],
  also: (view: View, size: Size) => string | null = () => null,
): Promise<string | null> => {
  let view = first;
  for (const { key, size } of presses) {
    const step = view.press(key, size);
    const later = await step.later;
    view = later?.view ?? step.view ?? view;
    const problem = problemOf(view, size) ?? also(view, size);
    if (problem !== null) return problem;
  }
  return null;
};
