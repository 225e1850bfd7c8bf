import fc from "fast-check";
import { expect, test } from "vitest";
import { transcriptView, treeView } from "../../../src/terminal/index.ts";
import { movedBy, sightFrom } from "../../../src/terminal/views/items.ts";
import { scrollingView } from "../../../src/terminal/views/scrolling-view.ts";
import { span, textLines, textOfLine } from "../../../src/terminal/text/line.ts";
import { wrapped } from "../../../src/terminal/text/wrap.ts";
import { keys, problemAfter, sizes, texts } from "./any-keys.ts";
import { after, screenOf } from "./shown-text.ts";
import { story } from "./story.ts";
import { runs } from "../../../../../test/runs.ts";

const { state } = await story();
const presses = fc.array(fc.record({ key: keys, size: sizes }), { minLength: 1, maxLength: 30 });

const listOf = (items: readonly string[], selects: boolean) =>
  scrollingView({
    title: "List",
    head: () => [[span("above")]],
    items: {
      count: items.length,
      lines: (index, columns) => textLines(items[index] ?? "").flatMap((each) => wrapped(each, columns)),
      text: (index) => items[index] ?? "",
    },
    empty: "nothing",
    selects,
    hints: ["Enter open"],
  });

test("a search says how many items have its words", () => {
  const list = listOf(["one", "two", "one more", "three"], true);
  const screen = (...keys: readonly string[]) =>
    screenOf(after(list, { columns: 40, rows: 8 }, ...keys), { columns: 40, rows: 8 });
  expect(screen("/", "ONE", "enter")).toMatch(/> one\n[^]*\n2 of 4 have ONE · n next$/);
  expect(screen("/", "one", "enter", "n")).toMatch(/> one more\n[^]*\n2 of 4 have one · n next$/);
  expect(screen("/", "one", "enter", "down")).not.toContain("of 4");
  expect(screen("/", "four", "enter")).toMatch(/\nnot found: four$/);
});

test("whatever is pressed on whatever screen, nothing is higher or wider than it, and what is selected is seen", async () => {
  const selected = ({ show }: ReturnType<typeof listOf>, size: { columns: number; rows: number }): string | null =>
    size.rows < 3 || size.columns < 4 || show(size).lines.some((line) => textOfLine(line).startsWith("> "))
      ? null
      : "not seen";
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 30 }), presses, async (items, pressed) => {
      expect(await problemAfter(listOf(items, true), pressed, selected)).toBeNull();
      expect(await problemAfter(listOf(items, false), pressed)).toBeNull();
    }),
    { numRuns: runs(10) },
  );
});

test("the same of a tree and a transcript", async () => {
  await fc.assert(
    fc.asyncProperty(presses, async (pressed) => {
      expect(await problemAfter(treeView(state), pressed)).toBeNull();
      expect(await problemAfter(transcriptView(state), pressed)).toBeNull();
    }),
    { numRuns: runs(10) },
  );
});

test("scrolling by lines is what it is in a text that is laid out whole", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 }),
      fc.array(fc.integer({ min: -9, max: 9 })),
      fc.integer({ min: 1, max: 12 }),
      (heights, moves, rows) => {
        const all = heights.flatMap((height, item) => Array.from({ length: height }, (_, line) => ({ item, line })));
        const items = {
          count: heights.length,
          lines: (index: number) =>
            Array.from({ length: heights[index] ?? 0 }, (_, line) => [span(`${index}.${line}`)]),
          text: () => "",
        };
        let top = { item: 0, line: 0 };
        let whole = 0;
        for (const by of moves) {
          top = sightFrom(items, 80, rows, movedBy(items, 80, top, by))[0]?.place ?? top;
          whole = Math.max(0, Math.min(whole + by, all.length - rows));
          expect(top).toEqual(all[whole]);
          expect(sightFrom(items, 80, rows, top).map(({ place }) => place)).toEqual(all.slice(whole, whole + rows));
        }
      },
    ),
    { numRuns: runs(100) },
  );
});

test("keys that come together are pressed one after the other", () => {
  const list = listOf(["a", "b", "c", "d"], true);
  const size = { columns: 20, rows: 8 };
  const step = list.press({ type: "text", text: "jjk" }, size);
  expect(screenOf(step.view ?? list, size)).toContain("\n> b\n");
  expect(list.press({ type: "text", text: "jq" }, size).view).toBeNull();
});

test("the selection stays when the screen changes", () => {
  const list = after(
    listOf(
      Array.from({ length: 99 }, (_, index) => `item ${index}`),
      true,
    ),
    { columns: 80, rows: 24 },
    "G",
    "k",
  );
  for (const size of [
    { columns: 20, rows: 6 },
    { columns: 200, rows: 50 },
    { columns: 20, rows: 10 },
  ])
    expect(screenOf(list, size)).toContain("\n> item 97\n");
});

test("the words that are searched for are typed at the bottom, with the cursor behind them", () => {
  const size = { columns: 40, rows: 8 };
  const typing = after(listOf(["one", "two"], true), size, "/", "t", "x", "backspace", "w");
  expect(typing.show(size).cursor).toEqual({ row: 7, column: 3 });
  expect(screenOf(typing, size).split("\n").at(-1)).toBe("/tw");
  const found = after(typing, size, "enter");
  expect(found.show(size).lines.flat()).toContainEqual({ text: "tw", roles: ["match", "selected"] });
  expect(screenOf(after(found, size, "/", "enter"), size)).toContain("> two");
});
