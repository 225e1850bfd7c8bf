import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import { type Editor, emptyEditor, pasted, typed } from "../../../src/terminal/input/editor.ts";
import { edited } from "../../../src/terminal/input/edits.ts";
import { layOut } from "../../../src/terminal/input/layout.ts";
import { graphemesOf, widthOf } from "../../../src/terminal/text/wrap.ts";
import { after, textOf } from "./editing.ts";

/** Returns the rows with `|` at the cursor's cell. */
const shown = (editor: Editor, columns: number, rows = 24): readonly string[] => {
  const frame = layOut(editor, { columns, rows });
  return textOf(frame).map((row, index) =>
    index === frame.cursor.row ? splitAt(row, frame.cursor.column).join("|") : row,
  );
};

/** Splits a row at a cell. Pads a shorter row. */
const splitAt = (row: string, column: number): readonly [string, string] => {
  let before = "";
  for (const grapheme of graphemesOf(row)) {
    if (widthOf(before) >= column) break;
    before += grapheme;
  }
  return [before.padEnd(before.length + column - widthOf(before)), row.slice(before.length)];
};

test.each<[string, number, readonly string[]]>([
  ["", 20, ["> |"]],
  ["hello", 20, ["> hello|"]],
  ["hello<left><left>", 20, ["> hel|lo"]],
  ["one<newline>two<newline>", 20, ["> one", "  two", "  |"]],
  // 20 columns: 17 for the text.
  ["abcdefghijklmnop", 20, ["> abcdefghijklmnop|"]],
  ["abcdefghijklmnopq", 20, ["> abcdefghijklmnopq", "  |"]],
  ["abcdefghijklmnopqr", 20, ["> abcdefghijklmnopq", "  r|"]],
  ["abcdefghijklmnopqr<left>", 20, ["> abcdefghijklmnopq", "  |r"]],
  ["abcdefghijklmnopq<newline>", 20, ["> abcdefghijklmnopq", "  |"]],
  ["日本語日本語日本語", 20, ["> 日本語日本語日本", "  語|"]],
  ["日本語日本語日本語<left>", 20, ["> 日本語日本語日本", "  |語"]],
  ["e\u0301👩‍👩‍👧‍👦🇩🇪", 20, ["> e\u0301👩‍👩‍👧‍👦🇩🇪|"]],
  ["\u0301x\u200B", 20, ["> ◌\u0301x\uFFFD|"]],
  // No room for a prompt.
  ["abcdef", 7, ["abcdef", "|"]],
  ["日本", 3, ["日", "本", "|"]],
  ["ab", 1, ["ab", "|"]],
])("%j at %d columns", (script, columns, rows) => expect(shown(after(script), columns)).toEqual(rows));

test("tabs of pastes are shown as two cells", () => {
  expect(shown(pasted(emptyEditor, "a\tb"), 20)).toEqual(["> a  b|"]);
});

test("a long input shows at most 8 rows, and 3 less than there are, with the cursor in them", () => {
  const word = typed(emptyEditor, "x".repeat(10_000));
  expect(shown(word, 20)).toHaveLength(8);
  expect(shown(word, 20).at(-1)).toBe(`  ${"x".repeat(10_000 % 17)}|`);
  expect(shown(word, 20, 10)).toHaveLength(7);
  expect(shown(word, 20, 4)).toHaveLength(1);
  expect(shown(word, 20, 1)).toHaveLength(1);
  expect(shown(after("<inputStart>", word), 20)[0]).toBe(`> |${"x".repeat(17)}`);
});

test("the mark of a paste is wrapped, and the cursor never stands in it", () => {
  const editor = typed(pasted(typed(emptyEditor, "ab"), "x".repeat(5000)), "cd");
  expect(shown(editor, 20)).toEqual(["> ab[paste #1: 5,00", "  0 characters]cd|"]);
  expect(shown(after("<up>", editor, { columns: 20, rows: 24 }), 20)[0]).toBe("> ab|[paste #1: 5,00");
  expect(layOut(editor, { columns: 20, rows: 24 }).lines[0]?.map(({ roles }) => roles[0])).toEqual([
    "prompt",
    "plain",
    "name",
  ]);
});

const graphemes = ["a", "b", " ", "世", "👩‍👩‍👧‍👦", "e\u0301", "🇩🇪", "\n", "\n", "❤️"];

const editors = fc
  .tuple(fc.array(fc.oneof(fc.constantFrom(...graphemes), fc.constant("<paste>")), { maxLength: 60 }), fc.nat(60))
  .map(([pieces, back]) => {
    const editor = pieces.reduce(
      (state, piece) => (piece === "<paste>" ? pasted(state, "y".repeat(1001)) : typed(state, piece)),
      emptyEditor,
    );
    return after("<left>".repeat(back), editor);
  });

const sizes = fc.record({ columns: fc.integer({ min: 3, max: 40 }), rows: fc.integer({ min: 1, max: 14 }) });

describe("laws of the layout", () => {
  test("no row is wider than the columns but one, there are as many as there may be, and the cursor is in them", () => {
    fc.assert(
      fc.property(editors, sizes, (editor, size) => {
        const { lines, cursor } = layOut(editor, size);
        expect(lines.length).toBeLessThanOrEqual(Math.max(Math.min(8, size.rows - 3), 1));
        for (const row of textOf({ lines, cursor })) expect(widthOf(row)).toBeLessThanOrEqual(size.columns - 1);
        expect(cursor.row).toBeLessThan(lines.length);
        expect(cursor.column).toBeLessThan(size.columns - 1);
      }),
      { numRuns: runs(1200) },
    );
  });

  test("all of a text is shown, in order", () => {
    fc.assert(
      fc.property(editors, sizes, (editor, { columns }) => {
        const rows = textOf(layOut(editor, { columns, rows: 24 }));
        fc.pre(rows.length < 8);
        const indent = columns < 8 ? 0 : 2;
        expect(rows.map((row) => row.slice(indent)).join("")).toBe(editor.text.replaceAll("\n", ""));
      }),
      { numRuns: runs(1200) },
    );
  });

  test("a typed character, as wide as the next one, appears in the cursor's cell", () => {
    fc.assert(
      fc.property(editors, sizes, (editor, { columns }) => {
        const size = { columns, rows: 24 };
        const [next = "\n"] = graphemesOf(editor.text.slice(editor.cursor));
        const typing = widthOf(next) === 2 ? "世" : "x";
        const [before, then] = [layOut(editor, size), layOut(typed(editor, typing), size)];
        // Nothing is scrolled away.
        fc.pre(before.lines.length < 8 && then.lines.length < 8);
        const [, cell] = splitAt(textOf(then)[before.cursor.row] ?? "", before.cursor.column);
        expect(cell.startsWith(typing)).toBe(true);
      }),
      { numRuns: runs(2000) },
    );
  });

  test("down and up go by one row, keep to the column where they can, and end where there is none", () => {
    fc.assert(
      fc.property(editors, sizes, (editor, { columns }) => {
        fc.pre(editor.marks.length === 0);
        const size = { columns, rows: 24 };
        const { lines, cursor } = layOut(editor, size);
        // Nothing is scrolled away.
        fc.pre(layOut(after("<inputEnd>", editor), size).lines.length < 8);
        const place = (state: Editor | null) => (state === null ? null : layOut(state, size).cursor);
        const [up, down] = [place(edited(editor, "up", size)), place(edited(editor, "down", size))];
        // A cursor at the end of a full row adds a row, which vanishes when it moves away.
        const isMade =
          cursor.column === widthOf(lines[cursor.row]?.[0]?.text ?? "") &&
          !/(?:^|\n)$/.test(editor.text.slice(0, editor.cursor)) &&
          /^(?:$|\n)/.test(editor.text.slice(editor.cursor));
        expect(down?.row).toBe(cursor.row < lines.length - 1 ? cursor.row + (isMade ? 0 : 1) : undefined);
        expect(up?.row).toBe(cursor.row > 0 ? cursor.row - 1 : undefined);
        for (const { column } of [up ?? cursor, down ?? cursor]) expect(column).toBeLessThanOrEqual(cursor.column);
      }),
      { numRuns: runs(1200) },
    );
  });

  test("up and down, again and again, come to the first and the last row, over marks as well", () => {
    fc.assert(
      fc.property(
        editors,
        sizes,
        fc.constantFrom("up", "down", "pageUp", "pageDown"),
        (editor, { columns }, action) => {
          const size = { columns, rows: 24 };
          let state: Editor | null = editor;
          for (let steps = 0; state !== null; steps += 1) {
            expect(steps).toBeLessThan(1 + editor.text.length);
            state = edited(state, action, size);
          }
        },
      ),
      { numRuns: runs(1000) },
    );
  });
});

test("up and down keep to the column over shorter rows, until something else is done", () => {
  const editor = after("long line<newline>x<newline>long line");
  const size = { columns: 40, rows: 24 };
  expect(shown(after("<up><up>", editor, size), 40)[0]).toBe("> long line|");
  expect(shown(after("<up><left><right><up>", editor, size), 40)[0]).toBe("> l|ong line");
  expect(shown(after("<pageUp>", editor, size), 40)[0]).toBe("> long line|");
});
