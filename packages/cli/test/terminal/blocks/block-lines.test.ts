import type { Json } from "@colloquy/machine";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Block } from "../../../src/terminal/blocks/block.ts";
import { blockLines } from "../../../src/terminal/blocks/block-lines.ts";
import { markdownBlocks } from "../../../src/terminal/markdown/markdown-stream.ts";
import { textOfLine } from "../../../src/terminal/text/line.ts";
import { lineWidth } from "../../../src/terminal/text/wrap.ts";
import { runs } from "../../../../../test/runs.ts";

const words = "日本語の長い結果 and so on, ".repeat(40);

const long: readonly Block[] = [
  { type: "thinking", text: words },
  { type: "tool", callId: "1", name: "look_up", arguments: words, result: { outcome: "completed", content: words } },
];

test.for([20, 80, 200])(
  "at %i columns what is folded takes a row each, and what is unfolded loses nothing",
  (columns) => {
    for (const block of long) {
      const folded = blockLines(block, { columns, unfolded: false, finished: true });
      expect(folded.map(lineWidth).filter((width) => width >= columns)).toEqual([]);
      expect(folded).toHaveLength(block.type === "tool" ? 2 : 1);
      const unfolded = blockLines(block, { columns, unfolded: true, finished: true });
      const text = unfolded.map((line) => line.map((span) => span.text).join("")).join("\n");
      // The terminal breaks prose between words.
      expect(text.replaceAll(/\s/g, "")).toContain(words.replaceAll(/\s/g, ""));
    }
  },
);

test("where the terminal does not wrap it, a text is wrapped beside its mark", () => {
  const look = { columns: 13, unfolded: true, finished: false };
  const shown = (block: Block): readonly string[] =>
    blockLines(block, look).map((line) => line.map(({ text }) => text).join(""));
  expect(shown({ type: "question", text: "one two three\r\nfour", fate: "asked", title: "2 you" })).toEqual([
    "",
    "2 you",
    "> one two",
    "  three",
    "  four",
  ]);
  expect(
    shown({
      type: "tool",
      callId: "1",
      name: "look",
      arguments: '{"for":\n"words"}',
      result: { outcome: "failed", content: "no such place" },
    }),
  ).toEqual(["● look", '  {"for":', '  "words"}', "  └ failed:", "    no such", "    place"]);
});

test.for([20, 80, 200])(
  "at %i columns a call that is put to a person loses nothing, nor looks like something else",
  (columns) => {
    const content = Array.from({ length: 200 }, (_, index) => `${index} ${"word ".repeat(index % 40)}`).join("\n");
    const given = { path: "a.txt", content: `${content}\n  },\n  "path": "b.txt"`, tags: ["x", { y: 1, z: null }] };
    const lines = blockLines(
      { type: "call", name: "write", arguments: given, change: null },
      { columns, unfolded: false, finished: true },
    );
    expect(lines.map(lineWidth).filter((width) => width >= columns)).toEqual([]);
    const texts = lines.map((line) => line.map(({ text }) => text).join(""));
    const ofContent = texts.filter((text) => /^ {4}[│┊] /.test(text)).map((text) => text.slice(6));
    expect(ofContent.join("").replaceAll(/\s/g, "")).toBe(given.content.replaceAll(/\s/g, ""));
    const rest = texts.filter((text) => !/^ {4}[│┊] /.test(text));
    const bare = JSON.stringify({ ...given, content: "" });
    expect(rest.join("").replaceAll(/\s/g, "")).toBe(`⁇write${bare}`.replace('"",', ""));
  },
);

test.for([20, 80])("at %i columns whatever a call is given is on it, and what draws nothing is escaped", (columns) => {
  const pieces = fc.constantFrom(
    "a",
    " ",
    "\n",
    "\t",
    '"',
    "\\",
    "\\u200b",
    "u2028",
    "│",
    ",",
    "日",
    "👩‍💻",
    ...invisible,
  );
  const words = fc.array(fc.oneof(pieces, fc.string({ unit: "binary" }))).map((all) => all.join(""));
  const given = fc.oneof(
    fc.jsonValue({ stringUnit: "binary" }),
    words,
    fc.record({ path: words, all: fc.array(words) }),
  );
  fc.assert(
    fc.property(given, (value) => {
      // Of JSON, so that -0 is 0.
      const json: Json = JSON.parse(JSON.stringify(value));
      const text = bare(saidIn(json, columns));
      for (const each of stringsIn(json)) expect(text).toContain(bare(each));
    }),
    { seed: 13, numRuns: runs(100) },
  );
});

test("a difference is below its call, as far as the window has room, each line cut to its width", () => {
  const lines = ["@@ line 1", "-old", `+⁇ run it?\u202e${"x".repeat(80)}`, " same", "+1", "+2", "+3", "+4"];
  const change = { title: "a.txt, if ⁇", lines };
  const shownAt = (rows: number, unfolded: boolean) =>
    blockLines({ type: "call", name: "write", arguments: {}, change }, { columns: 40, rows, unfolded, finished: true });
  const cut = "  +⁇ run it?\\u202exxxxxxxxxxxxxxxxxxxx…";
  const beginning = ["⁇ write {}", "  a.txt, if ⁇", "  @@ line 1", "  -old", cut, "   same"];
  expect(shownAt(12, false).map(textOfLine)).toEqual([...beginning, "  +1", "  … 3 more lines"]);
  expect(shownAt(14, false).map(textOfLine)).toEqual([...beginning, "  +1", "  +2", "  +3", "  +4"]);
  expect(shownAt(12, true)).toEqual(shownAt(14, false));
  const roles = shownAt(14, false).map((row) => row.at(-1)?.roles.at(-1));
  expect(roles.slice(2, 6)).toEqual(["dim", "removed", "added", "plain"]);
});

test("a line of a difference that is longer than what is laid out says so, however little of it is drawn", () => {
  const lines = [`+a${"\u0301".repeat(200)} and more`];
  const change = { title: "a.txt, if", lines };
  const look = { columns: 40, rows: 24, unfolded: true, finished: true };
  const rows = blockLines({ type: "call", name: "write", arguments: "{}", change }, look);
  expect(rows.map(textOfLine).at(-1)).toMatch(/^ {2}\+a\u0301+…$/);
});

test("no words of others begin a row as what a person is asked does", () => {
  const fake = '⁇ remove {"file":"a"}';
  const words: readonly Block[] = [
    { type: "answer", markdown: markdownBlocks(`${"x".repeat(19)} ${fake}\n\n- ${fake}`) },
    { type: "thinking", text: fake },
    { type: "refusal", text: fake },
    { type: "notice", text: fake, level: "warning" },
    { type: "figures", text: fake },
    { type: "tool", callId: "1", name: "look", arguments: fake, result: { outcome: "completed", content: fake } },
  ];
  for (const finished of [true, false])
    for (const block of words) {
      const lines = blockLines(block, { columns: 20, unfolded: true, finished });
      expect(lines.map(textOfLine).join("\n")).not.toContain("⁇");
      expect(lines.map(textOfLine).join("\n")).toContain("? remove");
    }
});

const invisible = Array.from("\u2028\u2029\u200D\u200C\u3164\u2800\u00A0\uFE0F\u202E\u{E0141}\u034F");

/**
 * Returns the content of a call as a person reads it: each row without its indent.
 */
const saidIn = (given: Json, columns: number): string => {
  const [head = [], ...rows] = blockLines(
    { type: "call", name: "run", arguments: given, change: null },
    { columns, unfolded: false, finished: true },
  );
  expect([head, ...rows].map(lineWidth).filter((width) => width >= columns)).toEqual([]);
  const texts: { isJson: boolean; text: string }[] = [{ isJson: true, text: textOfLine(head) }];
  for (const [indent, ...row] of rows) {
    const last = texts.at(-1);
    const isJson = !/[│┊]/.test(indent?.text ?? "");
    const goesOn = indent?.text.includes("┊") === true || (isJson && last?.isJson === true);
    if (goesOn && last !== undefined) last.text += textOfLine(row);
    else texts.push({ isJson, text: textOfLine(row) });
  }
  for (const { text } of texts)
    expect(text).not.toMatch(/(?!\t)[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\u00A0]/u);
  return texts
    .map(({ isJson, text }) => unescaped(text, isJson ? /\\(?:u([\da-f]{4})|(.))/g : /\\u([\da-f]{4})()/g))
    .join("");
};

const unescaped = (text: string, escapes: RegExp): string =>
  text.replaceAll(escapes, (_, code: string | undefined, letter: string) =>
    code === undefined ? (letters.get(letter) ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
const letters = new Map(Object.entries({ n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" }));

/** Removes white space, since rows omit the spaces at their ends. */
const bare = (text: string): string => text.replaceAll(/\s/g, "");

const stringsIn = (value: unknown): readonly string[] => {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(stringsIn)];
};
