import type { Entry } from "@colloquy/machine";
import { journalFormat } from "@colloquy/machine/journal";
import { describe, expect, it } from "vitest";
import { checkWriters } from "../../proof/writers/check.ts";
import { answerTo, type Report } from "../../proof/writers/talk.ts";
import { writers } from "../../proof/writers/main.ts";

describe("R3: processes that write one thread at once, one of which is stopped past its lease", () => {
  const stores =
    process.env["COLLOQUY_POSTGRES_URL"] === undefined ? ["sqlite" as const] : ["sqlite" as const, "postgres" as const];

  it.each(stores)(
    "lose no ask and answer none twice, on %s",
    async (store) => {
      const { problems, entries } = await writers({ store, asks: 30, processes: 3, leaseTtlMs: 400 });
      expect(problems).toEqual([]);
      expect(entries).toBeGreaterThan(60);
    },
    120_000,
  );
});

describe("the check of writers", () => {
  const reports: readonly Report[] = ["a", "b"].map((askId, index) => ({
    type: "answered",
    askId,
    turn: index + 1,
    text: answerTo(askId),
  }));
  const journal = (...asks: readonly string[]): readonly Entry[] => [
    {
      seq: 0,
      format: journalFormat,
      event: { type: "thread.started", at: 0, threadId: "shared", configuration: { fingerprint: "" } },
    },
    ...asks.flatMap((askId, index): readonly Entry[] => [
      { seq: 2 * index + 1, event: { type: "ask.received", at: 0, askId, input: askId } },
      {
        seq: 2 * index + 2,
        event: {
          type: "llm.completed",
          at: 0,
          effectId: `shared/${index + 1}.1#1`,
          reply: { content: answerTo(askId) },
          finishReason: "stop",
        },
      },
    ]),
  ];

  it.each<readonly [string, readonly string[], readonly Report[], readonly Entry[], RegExp | null]>([
    ["takes what is right", ["a", "b"], reports, journal("a", "b"), null],
    ["finds an ask that is lost", ["a", "b"], reports, journal("a"), /b is lost/],
    [
      "finds an ask that is answered twice",
      ["a", "b"],
      reports,
      journal("a", "b", "a"),
      /takes a a second time|a is answered 2 times/,
    ],
    [
      "finds another's answer",
      ["a", "b"],
      [...reports.slice(1), { ...reports[0], text: "b's" } as Report],
      journal("a", "b"),
      /a had the result "b's"/,
    ],
    [
      "finds an ask whose asker received no answer",
      ["a", "b"],
      reports.slice(1),
      journal("a", "b"),
      /a was answered, and its asker/,
    ],
    ["finds a gap", ["a", "b"], reports, journal("a", "b").filter(({ seq }) => seq !== 1), /./],
    ["finds an ask that was never made", ["a"], reports, journal("a", "b"), /b was accepted, but was never asked/],
  ])("%s", (_, asked, reported, stored, problem) => {
    const problems = checkWriters(asked, reported, stored);
    expect(problems.length === 0).toBe(problem === null);
    expect(problem === null || problems.some((words) => problem.test(words))).toBe(true);
  });
});
