import { expect, test } from "vitest";
import type { Block } from "../../src/blocks/block.ts";
import { blockLines } from "../../src/blocks/block-lines.ts";
import { lineWidth } from "../../src/text/wrap.ts";

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
      { type: "call", name: "write", arguments: JSON.stringify(given) },
      { columns, unfolded: false, finished: true },
    );
    expect(lines.map(lineWidth).filter((width) => width >= columns)).toEqual([]);
    const texts = lines.map((line) => line.map(({ text }) => text).join(""));
    const ofContent = texts.filter((text) => /^ {4}[│┊] /.test(text)).map((text) => text.slice(6));
    expect(ofContent.join("").replaceAll(/\s/g, "")).toBe(given.content.replaceAll(/\s/g, ""));
    const rest = texts.filter((text) => !/^ {4}[│┊] /.test(text));
    const bare = JSON.stringify({ ...given, content: "" });
    expect(rest.join("").replaceAll(/\s/g, "")).toBe(`?write${bare}`.replace('"",', ""));
  },
);

test("a call that fits is put on one row", () => {
  const block: Block = { type: "call", name: "remove", arguments: '{"file":"a"}' };
  expect(blockLines(block, { columns: 80, unfolded: false, finished: true })).toHaveLength(1);
  expect(blockLines(block, { columns: 20, unfolded: false, finished: true })).toHaveLength(4);
});
