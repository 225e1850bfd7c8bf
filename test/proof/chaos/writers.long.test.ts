import type { Entry } from "@colloquy/machine";
import { journalFormat } from "@colloquy/machine/journal";
import { describe, expect, it } from "vitest";
import type { Fact } from "../../../proof/chaos/story/facts.ts";
import { judge } from "../../../proof/chaos/story/judge.ts";
import { answerTo } from "../../../proof/chaos/story/script.ts";
import { writers } from "../../../proof/chaos/writers/target.ts";
import { serverUrl } from "../../../proof/kit/server-urls.ts";

describe("R3: processes that write one thread at once, one of which is stopped past its lease", () => {
  const stores = (["sqlite", "files", "postgres", "redis"] as const).filter(
    (name) => name === "sqlite" || name === "files" || serverUrl(name) !== null,
  );

  it.each(stores)(
    "lose no ask and answer none twice, on %s",
    async (store) => {
      const options = { asks: 30, processes: 3, outstanding: 32, leaseTtlMs: 400 };
      const [run] = await writers({ store, runs: 1, seed: 1 }, options);
      expect(run?.violations).toEqual([]);
      expect(run?.entries).toBeGreaterThan(60);
    },
    120_000,
  );
});

describe("the judge of writers", () => {
  const inputOf = (askId: string): string => `plain ${askId}`;
  const reports: readonly Fact[] = ["a", "b"].map((askId, index) => ({
    type: "answered",
    askId,
    turn: index + 1,
    text: answerTo(inputOf(askId)),
  }));
  const journal = (...asks: readonly string[]): readonly Entry[] => [
    {
      seq: 0,
      format: journalFormat,
      event: { type: "thread.started", at: 0, threadId: "shared", configuration: { fingerprint: "" } },
    },
    ...asks.flatMap((askId, index): readonly Entry[] => [
      { seq: 2 * index + 1, event: { type: "ask.received", at: 0, askId, input: inputOf(askId) } },
      {
        seq: 2 * index + 2,
        event: {
          type: "llm.completed",
          at: 0,
          effectId: `shared/${index + 1}.1#1`,
          reply: { content: answerTo(inputOf(askId)) },
          finishReason: "stop",
        },
      },
    ]),
  ];

  it.each<readonly [string, readonly string[], readonly Fact[], readonly Entry[], RegExp | null]>([
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
      [...reports.slice(1), { ...reports[0], text: "b's" } as Fact],
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
    const problems = judge({
      journal: stored,
      asked: asked.map((askId) => ({ askId, input: inputOf(askId) })),
      facts: reported,
    });
    expect(problems.length === 0).toBe(problem === null);
    expect(problem === null || problems.some((words) => problem.test(words))).toBe(true);
  });
});
