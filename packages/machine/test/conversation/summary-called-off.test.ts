import { describe, expect, test } from "vitest";
import { turnNumbered } from "../../src/index.ts";
import { keepAll, lastTurns, type Policy } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { rolling } from "../hand-made.ts";

const talking = (policy: Policy, ...texts: readonly string[]): CheckedTalk => {
  const talk = new CheckedTalk({ policy });
  for (const text of texts) talk.say(text, `${text}!`);
  return talk;
};

describe("a summary is called off", () => {
  const later = (talk: CheckedTalk) => {
    talk.summarise("S1");
    talk.say("Two", "Two!");
    return talk;
  };

  test.each<readonly [string, (talk: CheckedTalk) => void]>([
    ["undone", (talk) => talk.tell({ type: "head.moved", to: 1 })],
    ["cleared", (talk) => talk.tell({ type: "head.moved", to: 0 })],
    ["shortened", (talk) => talk.tell({ type: "answer.truncated", turn: 2, characters: 1 })],
    [
      "shortened, one that it reads as a summary",
      (talk) => talk.tell({ type: "answer.truncated", turn: 1, characters: 1 }),
    ],
  ])("when its turns are %s", (_, change) => {
    const talk = later(talking(rolling({ keep: 0 }), "One"));
    expect(talk.signals()).toContainEqual({ type: "summary.started", number: 2, covers: { from: 1, to: 2 } });
    const { calls } = talk.state.context.usage.betweenTurns;
    change(talk);
    expect(talk.effects).toContainEqual({ type: "cancelLlm", effectId: "t/summary-2#1" });
    expect(talk.signals()).toContainEqual(expect.objectContaining({ type: "summary.failed", number: 2 }));
    expect(talk.isSummarising()).toBe(false);
    const { betweenTurns } = talk.state.context.usage;
    expect(betweenTurns).toMatchObject({ calls: calls + 1, totalTokens: { unreported: calls + 1 } });
    const late = { effectId: "t/summary-2#1", reply: { content: "late" }, finishReason: "stop" };
    expect(talk.refused({ type: "llm.completed", ...late }).kind).toBe("stale");
    expect(turnNumbered(talk.state, 2)?.summaryFailures).toBeUndefined();
    talk.say("Three", "Three!");
    expect(talk.summary().id).toBe("t/summary-3#1");
    talk.replays();
  });

  test.each<readonly [string, (talk: CheckedTalk) => void]>([
    [
      "a turn is added behind them",
      (talk) => talk.tell({ type: "turn.added", messages: [{ role: "user", content: "x" }] }),
    ],
    ["the head moves along with them", (talk) => talk.tell({ type: "head.moved", to: 2 })],
    ["a turn behind them is shortened", (talk) => talk.tell({ type: "answer.truncated", turn: 2, characters: 1 })],
    ["a message is pinned", (talk) => talk.tell({ type: "message.pinned", message: "1.0", pinned: true })],
  ])("but not when %s", (_, change) => {
    const talk = talking(rolling(), "One", "Two");
    const before = talk.summary();
    change(talk);
    expect(talk.effects.filter(({ type }) => type === "cancelLlm")).toEqual([]);
    expect(talk.summary()).toEqual(before);
  });
});

test("a summary is still taken where the policy that wanted it is another by now", () => {
  const talk = talking(rolling({ keep: 0 }), "One").under({ policy: keepAll() });
  expect(talk.summary().id).toBe("t/summary-1#1");
  talk.summarise("S1");
  expect(turnNumbered(talk.state, 1)?.summaries).toHaveLength(1);
  talk.ask("Two");
  expect(talk.sent()).toEqual(["One", "One!", "Two"]);
});

describe("what a summary costs", () => {
  const usage = { inputTokens: 7, outputTokens: 3 };

  test("is borne between the turns when it was asked for there, whenever it comes", () => {
    const talk = talking(rolling({ keep: 0 }), "One");
    talk.ask("Two");
    talk.summarise("S1", { usage });
    const { betweenTurns } = talk.state.context.usage;
    expect(betweenTurns).toMatchObject({ calls: 1, totalTokens: { sum: 10 } });
    expect(talk.state.context.open?.usage.calls).toBe(0);
  });

  test("is borne by the turn in which it was asked for, also when that has ended, and has its price", () => {
    const pricing = { name: "p", version: 1, options: {}, price: () => ({ nano: 5, currency: "EUR" }) };
    const first = talking(lastTurns(9), "One");
    const talk = first.under({ policy: rolling({ keep: 0 }), pricing });
    talk.ask("Two");
    expect(talk.summary()).toMatchObject({ turn: 2, step: 0 });
    talk.reply("Two!", { usage: { totalTokens: 1 } });
    expect(turnNumbered(talk.state, 2)?.usage).toMatchObject({ calls: 1 });
    talk.summarise("S1", { usage });
    expect(turnNumbered(talk.state, 2)?.usage).toMatchObject({
      calls: 2,
      totalTokens: { sum: 11 },
      cost: { EUR: { sum: 10 } },
    });
    expect(talk.state.context.usage.betweenTurns.calls).toBe(0);
  });
});
