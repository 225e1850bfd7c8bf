import { describe, expect, test } from "vitest";
import { lastTurnOf } from "../../src/index.ts";
import { type SummaryWanted } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { asking, characterCounter, rolling } from "../hand-made.ts";

// When a policy is asked what to summarise, and what follows from its answer.

describe("a summariser", () => {
  const wrong: readonly (readonly [string, () => unknown])[] = [
    ["the seed alone", () => ({ covers: { from: 0, to: 0 }, earlier: null })],
    ["turns that are not there", () => ({ covers: { from: 1, to: 9 }, earlier: null })],
    ["turns off the path", () => ({ covers: { from: 2, to: 2 }, earlier: null })],
    ["turns backwards", () => ({ covers: { from: 3, to: 1 }, earlier: null })],
    ["half a turn", () => ({ covers: { from: 1, to: 1.5 }, earlier: null })],
    ["no turns", () => ({ earlier: null })],
    ["to read further than it is to write", () => ({ covers: { from: 1, to: 1 }, earlier: { from: 1, to: 3 } })],
    [
      "to fold in the middle of the range to summarise",
      () => ({ covers: { from: 1, to: 3 }, earlier: { from: 3, to: 3 } }),
    ],
    ["to read turns that are not there", () => ({ covers: { from: 1, to: 1 }, earlier: { from: 7, to: 8 } })],
    ["a word", () => "all of it"],
    ["nothing, not even null", () => undefined],
    ["a promise", () => Promise.resolve(null)],
    ["a promise that nobody keeps", () => Promise.reject(new Error("late"))],
  ];

  test.each(wrong)("that wants %s is reported, and nothing is asked for", (_, wanted) => {
    // A policy in JavaScript may return this.
    const talk = new CheckedTalk(
      { policy: asking(wanted as () => SummaryWanted) },
      { seed: [{ role: "user", content: "s" }] },
    );
    talk.say("One", "1");
    talk.say("Two", "2");
    talk.tell({ type: "head.moved", to: 1 });
    talk.ask("Three");
    talk.reply("3");
    expect(talk.isSummarising()).toBe(false);
    expect(talk.signals()).toContainEqual({
      type: "policy.failed",
      reason: expect.stringContaining('policy "asking@1"'),
    });
    talk.ask("Four");
    expect(talk.sent()).toEqual(["s", "One", "1", "Three", "3", "Four"]);
  });

  test.each([
    ["fits", 1_000],
    ["does not fit", 10],
  ])("that throws is reported, whether the prompt %s", (_, tokens) => {
    const policy = asking(() => never("broken"));
    const talk = new CheckedTalk({ policy, counter: characterCounter, budget: { tokens, reserve: 0 } });
    talk.ask("x".repeat(20));
    expect(talk.signals()).toContainEqual({ type: "policy.failed", reason: expect.stringContaining("broken") });
    expect(talk.isCalling()).toBe(tokens > 20);
  });

  test("that wants the same again and again has it once: it is not paid for for ever", () => {
    const talk = new CheckedTalk({ policy: asking(() => ({ covers: { from: 1, to: 1 }, earlier: null })) });
    talk.say("One", "1");
    talk.summarise("S1");
    expect(talk.isSummarising()).toBe(false);
    talk.say("Two", "2");
    expect(talk.isSummarising()).toBe(false);
  });
});

test("a retried call is not made if a summary has meanwhile used up its turn's limit", () => {
  const first = new CheckedTalk();
  first.say("One", "1");
  const talk = first.under({ policy: rolling({ keep: 0 }), limits: { tokens: 50 }, retry: { baseDelayMs: 0 } });
  talk.ask("Two");
  talk.fail({ retryable: true });
  talk.summarise("S1", { usage: { totalTokens: 50 } });
  talk.fire("retry");
  expect(talk.isCalling()).toBe(false);
  expect(lastTurnOf(talk.state)).toMatchObject({ steps: 1, outcome: { limit: { limit: "tokens", reached: 50 } } });
});

function never(message: string): never {
  throw new Error(message);
}
