import * as fc from "fast-check";
import type { AskPart } from "@colloquy/host";
import type { ToolOutcome } from "@colloquy/machine";
import { expect, test, vi } from "vitest";
import {
  type AnswerBlocks,
  noBlocks,
  withApproval,
  withBlock,
  withPart,
  withQuestion,
  withWhole,
} from "../../../src/terminal/conversation/answer-blocks.ts";
import type { Block } from "../../../src/terminal/blocks/block.ts";
import { type MarkdownBlock, markdownBlocks, MarkdownStream } from "../../../src/terminal/markdown/markdown-stream.ts";
import { runs } from "../../../../../test/runs.ts";

const shownOf = (parts: readonly AskPart[], before: AnswerBlocks = noBlocks): AnswerBlocks =>
  parts.reduce((blocks, part) => withPart(blocks, part, true), before);

const text = (said: string, step = 1, attempt = 1): AskPart => ({
  type: "text.delta",
  turn: 1,
  step,
  attempt,
  text: said,
});

const call = (position: number, name = "look"): AskPart => ({
  type: "toolCall",
  turn: 1,
  step: 1,
  position,
  callId: `call-${position}`,
  name,
  arguments: "{}",
});

const result = (position: number, outcome: ToolOutcome = "completed"): AskPart => ({
  type: "toolResult",
  turn: 1,
  step: 1,
  position,
  callId: `call-${position}`,
  name: "look",
  outcome,
  content: `result ${position}`,
});

const requested: AskPart = {
  type: "approval.requested",
  turn: 1,
  step: 1,
  request: {
    type: "requestApproval",
    id: "here/1.1.0!1",
    threadId: "here",
    turn: 1,
    step: 1,
    position: 0,
    callId: "call-0",
    name: "look",
    digest: "",
    because: "declared",
    version: null,
    arguments: { at: "sky" },
  },
};

test("an approval waits for its answer, is asked for once, and is answered by whoever runs the call", () => {
  const asked = shownOf([call(0), requested, requested]);
  expect(asked.open.map(({ type }) => type)).toEqual(["tool", "approval"]);
  const approval = {
    type: "approval",
    id: "here/1.1.0!1",
    digest: "d",
    callId: "call-0",
    name: "look",
    arguments: {},
    because: "declared",
    isAsked: false,
    answer: null,
  } as const;
  const answered = shownOf([result(0)], withApproval(asked, approval, "approved"));
  expect(answered.finished).toMatchObject([{ type: "approval", answer: "approved" }, { type: "tool" }]);
  expect(shownOf([result(0)], asked).finished).toMatchObject([
    { type: "approval", answer: "approved" },
    { type: "tool" },
  ]);
  expect(shownOf([result(0, "refused")], withApproval(asked, approval, "denied")).finished).toMatchObject([
    { type: "approval", answer: "denied" },
    { type: "tool", result: { outcome: "refused", content: "result 0" } },
  ]);
  const put = withQuestion(asked);
  expect(put.finished).toEqual([{ type: "call", name: "look", arguments: { at: "sky" }, change: null }]);
  expect(put.open).toMatchObject([{ type: "tool" }, { type: "approval", isAsked: true }]);
  expect(withQuestion(put)).toBe(put);
  // A reopened thread shows the request without the call.
  expect(shownOf([requested]).open).toMatchObject([{ type: "tool", arguments: '{"at":"sky"}' }, { type: "approval" }]);
});

test("a notice in the middle of a text does not cut it in two", () => {
  const warning: AskPart = {
    type: "signal",
    signal: { type: "context.warning", warning: "at_limit", messages: 3, tokens: 9, available: 10 },
  };
  const { finished, open } = shownOf([text("```\na"), warning, text("b\n```")]);
  expect(finished.map(({ type }) => type)).toEqual(["notice"]);
  expect(open).toMatchObject([{ type: "answer", markdown: [{ source: "ab" }] }]);
  expect(withBlock(shownOf([text("a")]), { type: "question", text: "b", fate: "steered" }).open).toHaveLength(1);
});

test("thinking is finished when the answer begins, and void with its attempt", () => {
  const thought: AskPart = { type: "reasoning.delta", turn: 1, step: 1, attempt: 1, text: "Hm." };
  const retry: AskPart = {
    type: "signal",
    signal: { type: "retry.scheduled", turn: 1, attempt: 2, dueAt: 0, because: "overloaded" },
  };
  const { finished, open } = shownOf([thought, text("One")]);
  expect(finished).toEqual([{ type: "thinking", text: "Hm." }]);
  expect(open).toHaveLength(1);
  expect(shownOf([thought, retry]).finished).toMatchObject([
    {
      type: "notice",
      text: expect.stringMatching(/^overloaded: trying again at [\d:]{8} \(attempt 2\)$/),
      level: "dim",
    },
  ]);
  expect(shownOf([thought, text("One"), retry]).finished.at(-1)).toMatchObject({ level: "warning" });
});

test("items of a list and lines of code are finished as they come", () => {
  const list = Array.from({ length: 30 }, (_, index) => `- item ${index}\n`);
  const code = Array.from({ length: 90 }, () => "const a = 1;\n").join("");
  const { finished, open } = shownOf([...list.map((item) => text(item)), text(`\n\`\`\`ts\n${code}`)]);
  const sources = readIn(finished).map(({ source }) => source);
  expect(sources.slice(0, 30)).toEqual(list.map((item) => item.trimEnd()));
  expect(sources.slice(30).join("\n").split("\n").length).toBeGreaterThan(60);
  expect(open).toHaveLength(1);
});

test("growing text is parsed when it is drawn, not with each part, since a line may be long", () => {
  const read = vi.spyOn(MarkdownStream.prototype, "open");
  const { open } = shownOf(Array.from({ length: 100 }, () => text("word ")));
  expect(read).not.toHaveBeenCalled();
  expect(open).toMatchObject([{ type: "answer", markdown: [{ source: "word ".repeat(100) }] }]);
  expect(read).toHaveBeenCalled();
  read.mockRestore();
});

/** Returns the last step's blocks in the scrollback, without those that a notice calls void. */
const readIn = (finished: readonly Block[]): readonly MarkdownBlock[] => {
  const from = finished.findLastIndex(
    (block) => block.type === "tool" || (block.type === "notice" && /void$|all of it$/.test(block.text)),
  );
  return finished.slice(from + 1).flatMap((block) => (block.type === "answer" ? block.markdown : []));
};

const pieces = fc.array(fc.constantFrom("a", "b ", "\n", "\n\n", "```\n", "* c\n", "1. d\n", "> ", "| e |\n", "# "), {
  maxLength: 16,
});

/** The way in which an attempt fails. */
const mishap = fc.constantFrom("retry", "lost", "replay", "dropped");

const plan = fc.record({
  /** The texts of all steps but the last, before their tool calls. */
  steps: fc.array(pieces, { maxLength: 2 }),
  last: pieces,
  mishaps: fc.array(fc.record({ step: fc.nat(2), shown: pieces, mishap }), { maxLength: 4 }),
  noise: fc.boolean(),
});

const streamOf = ({
  steps,
  last,
  mishaps,
  noise,
}: typeof plan extends fc.Arbitrary<infer Plan> ? Plan : never): readonly AskPart[] => {
  const parts: AskPart[] = [];
  const play = (from: number, to: number): void => {
    for (let step = from; step <= to; step++) {
      let attempt = 1;
      const own = mishaps.splice(0).filter((each) => (each.step === step ? true : !mishaps.push(each)));
      for (const { shown, mishap: what } of own) {
        parts.push(...shown.map((piece) => text(piece, step, attempt)));
        if (what === "retry")
          parts.push({
            type: "signal",
            signal: { type: "retry.scheduled", turn: 1, attempt: ++attempt, dueAt: 0, because: "overloaded" },
          });
        else if (what === "lost")
          parts.push({ type: "thread.lost", turn: 1 }, { type: "replay.started", turn: 1, step, synthesised: false });
        else if (what === "dropped") parts.push({ type: "parts.dropped", count: 1 });
        else {
          parts.push({ type: "replay.started", turn: 1, step: 1, synthesised: true });
          play(1, step - 1);
        }
        if (what !== "retry") attempt = 1;
      }
      const said = step === steps.length + 1 ? last : (steps[step - 1] ?? []);
      parts.push({ type: "step.started", turn: 1, step }, ...said.map((piece) => text(piece, step, attempt)));
      if (noise) parts.push({ type: "wait.started", for: "model", until: null }, { type: "wait.ended" });
      if (step <= steps.length) {
        const { turn, ...where } = { turn: 1, step, position: 0, callId: `call-${step}`, name: "look" };
        parts.push(
          { type: "toolCall", turn, ...where, arguments: "{}" },
          { type: "toolResult", turn, ...where, outcome: "completed", content: "" },
        );
      }
      parts.push({ type: "step.ended", turn: 1, step });
    }
  };
  mishaps = [...mishaps];
  play(1, steps.length + 1);
  return parts;
};

test("the finished blocks show exactly the answer, after any retries, replays or drops", () => {
  fc.assert(
    fc.property(plan, (given) => {
      const answer = given.last.join("");
      let blocks = noBlocks;
      for (const part of streamOf(given)) {
        const next = withPart(blocks, part, true);
        // Written once, in order: nothing that is finished changes.
        expect(next.finished.slice(0, blocks.finished.length)).toEqual(blocks.finished);
        blocks = next;
      }
      const { finished, open } = withWhole(blocks, answer);
      expect(open).toEqual([]);
      // This holds for any pieces, and for any blocks that were finished before the end.
      expect(readIn(finished)).toEqual(markdownBlocks(answer));
    }),
    { seed: 13, numRuns: runs(500) },
  );
});
