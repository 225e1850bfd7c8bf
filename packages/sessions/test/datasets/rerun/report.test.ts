import type { LlmHandler } from "@colloquy/host";
import { noUsage } from "@colloquy/machine";
import { tokenWindow } from "@colloquy/machine/policies";
import { runningClock } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { expect, it } from "vitest";
import { rerun, type RerunOptions, type RerunReport, rerunTable } from "../../../src/datasets/index.ts";
import { addedJournal } from "../journal.ts";
import { weather } from "../stage.ts";

type Turn = RerunReport["conversations"][number]["turns"][number];
type Side = Turn["after"];

const side = (more: Partial<Side> = {}): Side => ({
  status: "completed",
  why: null,
  answer: "A",
  tools: [],
  usage: noUsage,
  score: null,
  metricFailed: null,
  ...more,
});
const turn = (after: Side, more: Partial<Turn> = {}): Turn => {
  return { turn: 1, question: "Q", before: side(), after, same: false, ...more };
};
const figures = (more: Partial<RerunReport["after"]> = {}) => {
  return { turns: 1, completed: 1, toolCalls: 0, usage: noUsage, score: null, scored: 0, ...more };
};
const known = (sum: number) => ({ sum, reported: 1, unreported: 0 });

/** Returns the lines of the report about conversations, or those of its table of figures. */
const linesOf = (report: Partial<RerunReport>, of: "conversations" | "figures"): readonly string[] => {
  const [said = "", table = ""] = rerunTable({
    conversations: [{ name: "t", problem: null, turns: [] }],
    before: figures(),
    after: figures(),
    ...report,
  }).split("\n\n");
  return (of === "figures" ? table : said).split("\n");
};

it("rerunTable shows the turns that differ, the outcome on each side, and why a conversation stopped", () => {
  const long = "x".repeat(200);
  const turns = [
    turn(side(), { same: true }),
    turn(side({ status: "failed", why: long, answer: "" }), { turn: 2, question: long }),
    turn(side({ status: "cancelled", tools: [{ name: "f", arguments: long }], answer: long, score: 0.1 + 0.2 }), {
      turn: 3,
    }),
    turn(side({ metricFailed: long }), { turn: 4 }),
  ];
  const cut = (of: number) => `${"x".repeat(of - 1)}…`;
  expect(linesOf({ conversations: [{ name: "t", problem: long, turns }] }, "conversations")).toEqual([
    `t: 4 turns asked again, 3 otherwise; stopped: ${cut(100)}`,
    `  turn 2: ${cut(60)}`,
    '    recorded  "A"',
    `    now       failed: ${cut(100)}`,
    "  turn 3: Q",
    '    recorded  "A"',
    `    now       cancelled: , f(${cut(58)}, "${cut(100)}", score 0.3`,
    "  turn 4: Q",
    '    recorded  "A"',
    `    now       "A", no score: ${cut(60)}`,
  ]);
  const one = [{ name: "t", problem: null, turns: [turn(side(), { same: true })] }];
  expect(linesOf({ conversations: one }, "conversations")).toEqual(["t: 1 turn asked again, all as recorded"]);
  expect(rerunTable({ conversations: one, before: figures({ turns: 0 }), after: figures({ turns: 0 }) })).toBe(
    "t: 1 turn asked again, all as recorded",
  );
});

it("rerunTable shows the figures of both sides with their change, and ? for unknown figures", () => {
  const usage = { ...noUsage, calls: 2, inputTokens: known(7), cost: { USD: known(1_500_000_000_000_000) } };
  const before = figures({ turns: 3, completed: 2, usage, score: 0.5, scored: 1 });
  const after = figures({
    turns: 3,
    completed: 3,
    usage: { ...usage, inputTokens: known(5), cost: { EUR: known(1) } },
  });
  expect(linesOf({ before, after }, "figures").map((line) => line.trimEnd().replaceAll(/ {2,}/g, " | "))).toEqual([
    " | recorded | now | change",
    "turns | 3 | 3",
    "completed | 2 | 3 | +1",
    "tool calls | 0 | 0",
    "model calls | 2 | 2",
    "input tokens | 7 | 5 | -2",
    "output tokens | ? | ?",
    "cost (USD) | 1500000 | ?",
    "cost (EUR) | ? | 0",
    "mean score | 0.5 | ?",
  ]);
  const scores = { before: figures({ score: 0.3, scored: 1 }), after: figures({ score: 0.1 + 0.2, scored: 1 }) };
  expect(linesOf(scores, "figures").at(-1)?.trimEnd()).toMatch(/^mean score +0\.3 +0\.3$/);
  expect(linesOf({}, "figures").map((line) => line.trimEnd().replaceAll(/ {2,}/g, " | "))).toEqual([
    " | recorded | now | change",
    "turns | 1 | 1",
    "completed | 1 | 1",
    "tool calls | 0 | 0",
    "model calls | ? | ?",
    "input tokens | ? | ?",
    "output tokens | ? | ?",
  ]);
});

const clock = runningClock();
const journal = addedJournal([
  {
    type: "turn.added",
    at: 1,
    messages: [
      { role: "user", content: "Q" },
      { role: "assistant", content: "A" },
    ],
  },
]);
const rain = () => toolCalls([{ name: "weather", arguments: { city: "Oslo" } }]);

it.each<readonly [string, LlmHandler, Partial<RerunOptions>, string]>([
  ["failed", scriptedModel([fails({ kind: "bad_request" })]), {}, "the script says: bad_request"],
  ["failed", scriptedModel([reply("A")]), { machine: { limits: { steps: 0 } } }, "the limit steps of 0 was reached"],
  [
    "failed",
    scriptedModel([]),
    { system: "x".repeat(4_000), machine: { policy: tokenWindow(), budget: { tokens: 20, reserve: 0 } } },
    expect.stringMatching(/^the prompt takes \d+ tokens, and there is room for \d+$/) as string,
  ],
  [
    "cancelled",
    scriptedModel([rain()]),
    { machine: { tools: [weather.declaration] } },
    'the recording has no result of weather({"city":"Oslo"})',
  ],
])("rerun reports why a turn is %s: %#", async (status, llm, options, why) => {
  const { conversations, after } = await rerun([journal], { clock, llm, ...options });
  expect(conversations[0]?.turns.map((each) => [each.after.status, each.after.why])).toEqual([[status, why]]);
  expect(after).toMatchObject({ turns: 1, completed: 0, score: null, scored: 0 });
});
