import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Line, Role } from "../../../src/terminal/text/line.ts";
import { printableInLine } from "../../../src/terminal/text/printable.ts";
import { graphemesOf, widthOf, cutLine, lineWidth, wrapped } from "../../../src/terminal/text/wrap.ts";
import { runs } from "../../../../../test/runs.ts";

const line = (text: string): Line => [{ text, roles: [] }];
const textOf = (row: Line): string => row.map(({ text }) => text).join("");
const rowsOf = (text: string, columns: number): readonly string[] => wrapped(line(text), columns).map(textOf);

describe("wrapping", () => {
  test.each([
    ["short", 80, ["short"]],
    ["one two three", 7, ["one two", "three"]],
    ["one two three", 8, ["one two", "three"]],
    ["one  two", 4, ["one", "two"]],
    ["unbreakable", 4, ["unbr", "eaka", "ble"]],
    ["a unbreakable", 4, ["a", "unbr", "eaka", "ble"]],
    ["  indented", 6, ["  inde", "nted"]],
    ["日本語のテキスト。", 8, ["日本語の", "テキス", "ト。"]],
    ["ab 日本", 6, ["ab 日", "本"]],
    ["👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 2, ["👩‍👩‍👧‍👦", "👩‍👩‍👧‍👦"]],
    ["日本", 1, ["日", "本"]],
    ["\u001B[2J", 3, ["␛[2", "J"]],
  ])("%j at %d columns", (text, columns, rows) => {
    expect(rowsOf(text, columns)).toEqual(rows);
  });

  test("keeps the roles of what it cuts", () => {
    const given: Line = [
      { text: "one tw", roles: ["strong"] },
      { text: "o three", roles: ["code"], link: "https://example.com" },
    ];
    expect(wrapped(given, 7)).toEqual([
      [
        { text: "one tw", roles: ["strong"] },
        { text: "o", roles: ["code"], link: "https://example.com" },
      ],
      [{ text: "three", roles: ["code"], link: "https://example.com" }],
    ]);
  });

  test.each([
    ["plain", 5, "plain"],
    ["plainer", 5, "plai…"],
    ["日本語", 4, "日…"],
    ["日本語", 5, "日本…"],
    ["ab", 1, "…"],
    ["ab", 0, ""],
  ])("%j cut to %d columns", (text, columns, cut) => {
    expect(textOf(cutLine(line(text), columns))).toBe(cut);
  });
});

const roles: readonly Role[] = ["plain", "strong"];
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."ab  \t\n-。".split(""), "日", "👩‍👧", "e\u0301", "\u001B"),
    fc.string({ unit: "binary", maxLength: 1 }),
  ),
  maxLength: 60,
});
const anyLine = fc.array(fc.record({ text: anyText, roles: fc.subarray([...roles]) }), { maxLength: 3 });
const fixed = { seed: 13, numRuns: runs(300) };

describe("for any line", () => {
  test("no row is wider than allowed, and no character of it is lost or moved", () => {
    fc.assert(
      fc.property(anyLine, fc.integer({ min: 1, max: 40 }), (given, columns) => {
        const rows = wrapped(given, columns);
        const tooWide = rows.filter((row) => lineWidth(row) > columns);
        const wideIn = (row: Line): number => graphemesOf(textOf(row)).filter((one) => widthOf(one) > 0).length;
        expect(tooWide.filter((row) => wideIn(row) > 1)).toEqual([]);
        const bare = (text: string): string => printableInLine(text).replaceAll(" ", "");
        expect(bare(rows.map(textOf).join(""))).toBe(bare(textOf(given)));
        expect(
          rows
            .flat()
            .every(({ text, roles: kept }) =>
              given.some((span) => span.roles === kept && printableInLine(span.text).includes(printableInLine(text))),
            ),
        ).toBe(true);
      }),
      fixed,
    );
  });

  test("what is cut is as wide as allowed, and begins as the line does", () => {
    fc.assert(
      fc.property(anyLine, fc.integer({ min: 0, max: 40 }), (given, columns) => {
        const cut = cutLine(given, columns);
        expect(lineWidth(cut)).toBeLessThanOrEqual(columns);
        const [shown, whole] = [cut, given].map((each) => each.map(({ text }) => printableInLine(text)).join(""));
        expect(shown === whole || whole?.startsWith(shown?.slice(0, -1) ?? "")).toBe(true);
      }),
      fixed,
    );
  });
});
