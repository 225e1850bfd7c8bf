import fc from "fast-check";
import { Lexer } from "marked";
import { describe, expect, test, vi } from "vitest";
import type { Line } from "../../../src/terminal/text/line.ts";
import { lineWidth } from "../../../src/terminal/text/wrap.ts";
import { type MarkdownBlock, MarkdownStream, markdownBlocks } from "../../../src/terminal/markdown/markdown-stream.ts";
import { markdownBlockLines, markdownLines } from "../../../src/terminal/markdown/markdown-lines.ts";
import { runs } from "../../../../../test/runs.ts";

const textOf = (lines: readonly Line[]): readonly string[] =>
  lines.map((line) => line.map(({ text }) => text).join(""));
const shownAt = (markdown: string, columns: number, soft = false): readonly string[] =>
  textOf(markdownLines(markdown, { columns, soft }));
const sourcesOf = (markdown: string): readonly string[] => markdownBlocks(markdown).map(({ source }) => source);

const sample = `# Weather in **Oslo**

It *rains* in Oslo today, and the [forecast](https://met.no/oslo "by met.no") says that it goes on; see \`rain()\`.
A second line of the same paragraph.

1. Take an umbrella:
   - a black one
   - [x] or a ~~red~~ green one
2. Go by tram

   It stops at the door.

| City | Rain |
|:-----|-----:|
| Oslo | 12 mm |
| 東京 | 3 mm |

> Rain is *good*.
> It is.

\`\`\`ts
const rain = "12 mm"; // today
\`\`\`

![a cloud](https://met.no/c.png) <b>wet</b>

---
`;

describe("a sample document", () => {
  test("at 80 columns", () => {
    expect(shownAt(sample, 80)).toMatchInlineSnapshot(`
      [
        "# Weather in Oslo",
        "",
        "It rains in Oslo today, and the forecast (https://met.no/oslo "by met.no") says",
        "that it goes on; see rain(). A second line of the same paragraph.",
        "",
        "1. Take an umbrella:",
        "   - a black one",
        "   - [x] or a red green one",
        "2. Go by tram",
        "",
        "   It stops at the door.",
        "",
        "City │  Rain",
        "─────┼──────",
        "Oslo │ 12 mm",
        "東京 │  3 mm",
        "",
        "> Rain is good. It is.",
        "",
        "ts",
        "const rain = "12 mm"; // today",
        "",
        "image: a cloud (https://met.no/c.png) <b>wet</b>",
        "",
        "---",
      ]
    `);
  });

  test("where the terminal opens addresses, they are shown only where the words could mislead", () => {
    const shown = (markdown: string): string =>
      textOf(markdownLines(markdown, { columns: 80, soft: false, hyperlinks: true })).join();
    expect(shown("[here](https://a.b/c)")).toBe("here");
    expect(shown("[bank.com](https://a.b/c)")).toBe("bank.com (https://a.b/c)");
    expect(shown("[here](javascript:x)")).toBe("here (javascript:x)");
    expect(shown("<https://a.b/c>")).toBe("https://a.b/c");
  });
});

test.each([
  ["a paragraph", "one\ntwo\n\nthree", ["one\ntwo", "three"]],
  ["headings", "# a\n## b\ntext\n===\nc", ["# a", "## b", "text\n===", "c"]],
  ["items", "- a\n  - b\n\n  more\n- c\n\ntext", ["- a\n  - b\n\n  more", "- c", "text"]],
  ["code in an item", "1. a\n   ```\n   x\n\n   # y\n   ```\n2. b", ["1. a\n   ```\n   x\n\n   # y\n   ```", "2. b"]],
  ["code beneath an item", "1. a\n```\nx\n\n- y\n```\n2. b", ["1. a", "x\n\n- y", "2. b"]],
  ["quotes", "> a\nb\n> c\n\n> d", ["> a\nb\n> c", "> d"]],
  ["longer fences", "````md\n```\nx\n```\n````\ny", ["```\nx\n```", "y"]],
  ["an open fence", "~~~\nx\n\ny", ["x\n\ny"]],
  ["a table behind words", "Rain:\n\na|b\n-|-\n1|2\n\nend", ["Rain:", "a|b\n-|-\n1|2", "end"]],
  ["carriage returns", "a\r\n\r\nb\r\n", ["a", "b"]],
])("finds the blocks of %s", (_, markdown, sources) => {
  expect(sourcesOf(markdown)).toEqual(sources);
});

test("a list keeps counting with anything before its items", () => {
  expect(shownAt("3. a\n3. b\n\n3. c\n\ntext\n\n1. d", 80)).toEqual([
    "3. a",
    "4. b",
    "",
    "5. c",
    "",
    "text",
    "",
    "1. d",
  ]);
});

test("a table that is too wide has narrower columns, the widest first", () => {
  const table =
    "| City | Rain | What it is like |\n|-|-:|-|\n| Oslo | 12 **mm** | it rains until noon |\n| Rome | 0 | dry |";
  expect(shownAt(table, 34)).toEqual([
    "City │  Rain │ What it is like",
    "─────┼───────┼───────────────────",
    "Oslo │ 12 mm │ it rains until",
    "     │       │ noon",
    "Rome │     0 │ dry",
  ]);
  expect(shownAt(table, 20)).toEqual([
    "City │ Rain │ What",
    "     │      │ it is",
    "     │      │ like",
    "─────┼──────┼──────",
    "Oslo │   12 │ it",
    "     │   mm │ rains",
    "     │      │ until",
    "     │      │ noon",
    "Rome │    0 │ dry",
  ]);
});

test("a table whose words do not fit side by side is a list of its cells", () => {
  expect(shownAt("| City | Rain today |\n|-|-|\n| Oslo | 12 **mm** |\n| Rome | none |", 12)).toEqual([
    "City: Oslo",
    "Rain today:",
    "12 mm",
    "",
    "City: Rome",
    "Rain today:",
    "none",
  ]);
  expect(shownAt("| City of Oslo | Rain today |\n|-|-|", 12)).toEqual(["City of", "Oslo", "Rain today"]);
});

test("cells that a table has no column for are not lost", () => {
  expect(shownAt("|a|b|\n|-|-|\n|c|d|e|", 80).join("\n")).toContain("e");
  // An address counts once, so that it makes up for no missing letters.
  expect(shownAt("|a|b|\n|-|-|\n|www.ab.cd|a|b|", 80)).toContain("|www.ab.cd|a|b|");
});

/** Pieces of Markdown syntax, and words. */
const piece = fc.constantFrom(
  ...'\n|\n\n|# |- |* |1. |2) |   |    |> |```|~~~|```ts\n|**|*|_|`|[|](|)|](http://a.b/c "t")|![|| a | b |\n|-|-|\n|---\n|===\n|<b>|<br>|</b>|<!-- |\\|&amp;|www.ab.cd|[x] |alpha |beta|gamma\n|ö日本|\t|\r\n|[r]: http://e.f\n|[r]'.split(
    "|",
  ),
  "| a | b |\n|---|---|\n",
  "| c | d | e |\n",
);
const anyMarkdown = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(""));
const fixed = { seed: 13, numRuns: runs(300) };

describe("for any Markdown", () => {
  test("the same blocks come of it, however it is cut, each once, and the same that is open", () => {
    fc.assert(
      fc.property(anyMarkdown, fc.array(fc.nat(9)), (markdown, lengths) => {
        const stream = new MarkdownStream();
        const blocks: MarkdownBlock[] = [];
        let at = 0;
        for (const length of lengths) {
          stream.add(markdown.slice(at, at + length));
          at += length;
          blocks.push(...stream.take());
          const whole = new MarkdownStream();
          whole.add(markdown.slice(0, at));
          expect(blocks).toEqual(whole.take());
          expect(stream.open()).toEqual(whole.open());
        }
        stream.add(markdown.slice(at));
        expect([...blocks, ...stream.end()]).toEqual(markdownBlocks(markdown));
      }),
      fixed,
    );
  });

  test("every letter shows, in order of its blocks", () => {
    fc.assert(
      fc.property(anyMarkdown, fc.integer({ min: 1, max: 80 }), fc.boolean(), (markdown, columns, soft) => {
        const sources = markdownBlocks(markdown);
        const written = sources
          .map(({ source, code }) => (code?.isFirst === true ? code.language : "") + source)
          .join("");
        expect(lettersOf(written)).toEqual(lettersOf(markdown));
        for (const block of sources) {
          const shown = lettersOf(textOf(markdownBlockLines(block, { columns, soft })).join(""));
          for (const letter of new Set(lettersOf(block.source.replaceAll("<br>", ""))))
            expect(countOf(shown, letter)).toBeGreaterThanOrEqual(
              countOf(lettersOf(block.source.replaceAll("<br>", "")), letter),
            );
        }
      }),
      fixed,
    );
  });

  test("no row is wider than the terminal leaves room for, and none holds a line end", () => {
    fc.assert(
      fc.property(anyMarkdown, fc.integer({ min: 20, max: 80 }), (markdown, columns) => {
        const lines = markdownLines(markdown, { columns, soft: false });
        expect(lines.filter((line) => lineWidth(line) > columns - 1 && nesting(line) < 12)).toEqual([]);
        expect(textOf(lines).filter((text) => text.includes("\n"))).toEqual([]);
      }),
      fixed,
    );
  });
});

const lettersOf = (text: string): readonly string[] => text.match(/\p{L}/gu) ?? [];
const countOf = (letters: readonly string[], letter: string): number =>
  letters.filter((each) => each === letter).length;
/** Returns the columns of a line's quote and item marks. If they exceed the width, no room is left for words. */
const nesting = (line: Line): number => line.findIndex(({ text }) => !/^(?:> |- |\d+[.)] | *)$/.test(text)) * 2;

describe("the work", () => {
  const lexedWhile = (run: () => void): number => {
    const lex = vi.spyOn(Lexer, "lex");
    run();
    const lexed = lex.mock.calls.reduce((sum, [source]) => sum + source.length, 0);
    lex.mockRestore();
    return lexed;
  };

  const openLines = (stream: MarkdownStream): readonly Line[] =>
    stream.open().flatMap((block) => markdownBlockLines(block, { columns: 80, soft: false }));

  const streamed = (markdown: string, deltasPerFrame: number): number =>
    lexedWhile(() => {
      const stream = new MarkdownStream();
      for (let at = 0, delta = 0; at < markdown.length; at += 4, delta += 1) {
        stream.add(markdown.slice(at, at + 4));
        for (const block of stream.take()) markdownBlockLines(block, { columns: 80, soft: true });
        if (delta % deltasPerFrame === 0) openLines(stream);
      }
      for (const block of stream.end()) markdownBlockLines(block, { columns: 80, soft: true });
    });

  test("grows with the length of a text, whatever its blocks", () => {
    const answer = `${sample}\n`.repeat(Math.ceil(30_000 / sample.length));
    // Thirty frames a second of a thousand deltas.
    expect(streamed(answer, 33)).toBeLessThan(3 * answer.length);
    for (const line of ["word ", "- item\n", "> quoted\n"])
      expect(streamed(line.repeat(4000), 100)).toBeLessThan(2.6 * streamed(line.repeat(2000), 100));
  });

  test("lines of long code are given out before it ends, and are not lexed", () => {
    const stream = new MarkdownStream();
    stream.add("```ts\n");
    stream.add("const a = 1;\n".repeat(1000));
    const blocks = stream.take();
    expect(blocks.flatMap(({ source }) => source.split("\n")).length).toBeGreaterThan(900);
    expect(lexedWhile(() => openLines(stream))).toBe(0);
    expect(openLines(stream).length).toBeLessThan(100);
  });

  test.each([
    ["quotes", ">"],
    ["brackets", "["],
    ["images", "!["],
    ["emphasis", "_a_"],
    ["items", "- "],
    ["items in quotes", "> - "],
    ["tags", "<"],
  ])("deep nesting of %s is shown as text", (_, mark) => {
    const markdown = `${mark.repeat(10_000 / mark.length)}word`;
    expect(shownAt(markdown, 80).join("")).toContain("word");
  });
});
