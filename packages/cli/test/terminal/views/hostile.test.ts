import { createHost, memoryStore } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { sequentialIds, virtualClock } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel, streams } from "@colloquy/runtime-test/models";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../../test/runs.ts";
import { markdownBlocks } from "../../../src/terminal/markdown/markdown-stream.ts";
import type { Block } from "../../../src/terminal/blocks/block.ts";
import { blockLines } from "../../../src/terminal/blocks/block-lines.ts";
import {
  atView,
  diffView,
  explainView,
  type Line,
  painted,
  searchView,
  themeNamed,
  threadsView,
  transcriptView,
  treeView,
  type View,
} from "../../../src/terminal/index.ts";
import { textOfLine } from "../../../src/terminal/text/line.ts";
import { sizes } from "./any-keys.ts";
import { pressing } from "./shown-text.ts";

/** Sequences that clear, write to the clipboard, link, reverse the text direction, hide words or break lines. */
const attacks = [
  ..."\u0000\u0007\b\t\n\v\f\r\u000E\u001B\u007F\u0085\u0090\u009B\u009C\u009D\u00AD".split(""),
  "\u001B[2J",
  "\u001B]52;c;aGk=\u0007",
  "\u001B]8;;https://a.example\u001B\\",
  "\u009B31m",
  "[here](https://a.example/\u001B]0;x\u0007)",
  "[here](https://a.example/%1B%5D0)",
  "<https://a.example/\u009D8;;>",
  "![\u001B[2J](javascript:x)",
  "```\u001B[2J\n\u001B[2J\n```\n",
  "| \u001B[2J | b |\n|-|-|\n| \u202E | \r |\n",
  ..."\u061C\u200B\u200E\u200F\u2028\u2029\u202A\u202E\u2060\u2066\u2069\uFEFF\uFFF9".split(""),
  "\u{E0001}\u{E0041}\u{E007F}",
] as const;

const word = fc.oneof(fc.constantFrom(...attacks), fc.constantFrom("word ", "日本", "# ", "- ", "> ", "**", "`", "👩‍👩‍👧"));
const textOf = (one: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.array(one, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(""));
const hostile = textOf(word);
/** Streamed texts may have half characters, unlike journals. */
const streamed = textOf(fc.oneof(word, fc.constantFrom("\uD800", "\uDC00")));

/** Matches steering characters, but not joiners and emoji selectors, which texts need. */
const steering =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00AD\u061C\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|[\u{E0000}-\u{E0FFF}]/u;

const theme = themeNamed("dark", {}, true);
/** Matches looks, and web and mail links in ASCII. */
const ours = new RegExp(String.raw`\u001B\[\d{1,3}m|\u001B\]8;;(?:(?:https?://|mailto:)[!-~]+)?\u0007`, "g");

const steeringIn = (lines: readonly Line[]): readonly string[] =>
  lines.map((line) => painted(line, theme).replaceAll(ours, "")).filter((shown) => steering.test(shown));

const blocks = streamed.chain((text): fc.Arbitrary<Block> =>
  fc.constantFrom<Block>(
    { type: "question", text, fate: "steered", title: text },
    { type: "thinking", text },
    { type: "answer", markdown: markdownBlocks(text) },
    { type: "refusal", text },
    { type: "tool", callId: text, name: text, arguments: text, result: { outcome: text, content: text } },
    {
      type: "call",
      name: text,
      arguments: { [text]: text, list: [text] },
      change: { title: text, lines: [text, `+${text}`] },
    },
    {
      type: "approval",
      id: text,
      digest: text,
      callId: text,
      name: text,
      arguments: text,
      because: "declared",
      isAsked: true,
      answer: null,
    },
    { type: "notice", text, level: "error" },
    { type: "figures", text },
  ),
);

test("no block sends what it holds, however it is laid out", () => {
  fc.assert(
    fc.property(blocks, sizes, fc.boolean(), fc.boolean(), (block, { columns }, unfolded, finished) => {
      expect(steeringIn(blockLines(block, { columns, unfolded, finished }))).toEqual([]);
    }),
    { numRuns: runs(1200) },
  );
});

/** Returns all views of a thread with such texts, and the copied text of its answer. */
const viewsOf = async (
  texts: readonly string[],
): Promise<{ readonly views: readonly View[]; readonly copied: unknown }> => {
  const clock = virtualClock();
  const text = (index: number): string => texts[index % texts.length] ?? "";
  const host = createHost({
    machine: conversationMachine(),
    store: memoryStore({ clock }),
    clock,
    ids: sequentialIds(),
    llm: scriptedModel([
      streams([{ reasoning: text(0) }, { toolCall: { name: `a${text(1)}`, arguments: { [text(2)]: text(3) } } }]),
      reply(text(0)),
      fails({ kind: "bad_request", message: text(1) }),
    ]),
  });
  const thread = host.thread("hostile");
  await thread.changeSystem(text(2));
  await thread.ask(text(3));
  await thread.checkpoint(`c${text(0)}`);
  await thread.annotate(1, `n${text(1)}`, text(2));
  await Promise.allSettled([thread.ask(text(1))]);
  await thread.setMetadata({ title: text(2) });
  const [state, explanation] = await Promise.all([thread.state(), thread.explain()]);
  if (state === null || explanation === null) throw new Error("nothing was said");
  const explained = explainView(explanation);
  const size = { columns: 80, rows: 24 };
  const views = [
    treeView(state),
    transcriptView(state),
    explained,
    pressing(explained, size, "g", "down", "enter").view ?? explained,
    ...(await Promise.all([
      atView(thread, 2),
      diffView(thread, 3, state.context.seq),
      searchView(host, "word"),
      threadsView(host),
    ])),
  ];
  const copied = pressing(transcriptView(state, 1), { columns: 80, rows: 500 }, "c").action;
  await host.close();
  return { views, copied };
};

test("no view sends what models, tools and journals wrote, and a copy is exactly that", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(hostile, { minLength: 4, maxLength: 4 }), sizes, async (texts, size) => {
      const { views, copied } = await viewsOf(texts);
      for (const view of views) expect([view.title, ...steeringIn(view.show(size).lines)]).toEqual([view.title]);
      expect(copied).toEqual({ type: "copy", text: texts[0] });
    }),
    { numRuns: runs(40) },
  );
});

test("an ordinary text is painted as it is, and its lines are the lines that are copied", () => {
  const ordinary = textOf(
    fc.constantFrom("word ", "Grüße, ", "日本語 ", "👩‍👩‍👧 ", "می‌خواهم ", "e\u0301", "(a + b) * c; ", "\n"),
  );
  const plain = themeNamed("plain");
  fc.assert(
    fc.property(ordinary, (text) => {
      const lines = blockLines(
        { type: "question", text, fate: "asked" },
        { columns: 100_000, unfolded: true, finished: true },
      );
      const shown = lines.slice(1).map((line) => painted(line, plain));
      expect(shown.map((line) => line.slice(2)).join("\n")).toBe(text);
      expect(shown).toEqual(lines.slice(1).map(textOfLine));
    }),
    { numRuns: runs(400) },
  );
});
