import { describe, expect, test } from "vitest";
import { lastTurnOf, type MachineOptions, promptOf, textOf } from "../../src/index.ts";
import { type Counter, estimateCounter, lastTurns } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";

// No prompt that does not fit is ever sent: the turn ends instead, with the numbers, and nothing was asked for.

const within = (tokens: number, reserve = 0, more: MachineOptions = {}): MachineOptions => ({
  counter: characterCounter,
  budget: { tokens, reserve },
  tools: [{ name: "search" }],
  retry: { baseDelayMs: 0 },
  ...more,
});

const outcomeOf = (talk: CheckedTalk) => lastTurnOf(talk.state)?.outcome;

describe("a counter", () => {
  const broken: readonly (readonly [string, Partial<Counter>])[] = [
    ["throws", { countPart: () => never("no") }],
    ["counts what is no number", { countPart: () => Number.NaN }],
    ["throws on prompts", { countPrompt: () => never("no") }],
    ["counts prompts without end", { countPrompt: () => Number.POSITIVE_INFINITY }],
  ];

  test.each(broken)(
    "that %s does not stop the conversation: the prompt is sent, and observers are notified",
    (_, part) => {
      const talk = new CheckedTalk(within(10, 0, { counter: { ...characterCounter, name: "broken", ...part } }));
      talk.ask("x".repeat(20));
      expect(talk.sent()).toEqual(["x".repeat(20)]);
      expect(talk.signals()).toContainEqual({
        type: "policy.failed",
        reason: expect.stringContaining('counter "broken@1"'),
      });
      expect(promptOf(talk.machine, talk.state)).toMatchObject({ tokens: null, fits: true });
      talk.reply("y");
    },
  );

  test("that can count prompts and not their parts still knows that one does not fit", () => {
    const counter: Counter = { ...characterCounter, countPart: () => never("no"), countPrompt: () => 500 };
    const talk = new CheckedTalk(within(10, 0, { counter }));
    talk.ask("x");
    expect(outcomeOf(talk)).toMatchObject({ unfit: { tokens: 500, available: 10 } });
  });

  test("that counts whole prompts is asked about the prompt as it is sent", () => {
    const seen: (readonly string[])[] = [];
    const counter: Counter = {
      ...characterCounter,
      countPrompt: (messages) => (seen.push(messages.map(textOf)), messages.length),
    };
    const talk = new CheckedTalk(within(3, 0, { counter, policy: lastTurns(1) }), { system: "s" });
    talk.ask("one");
    expect(seen.at(-1)).toEqual(["s", "one"]);
    talk.reply("1");
    talk.ask("two");
    expect(outcomeOf(talk)).toMatchObject({ unfit: { tokens: 4, available: 3 } });
  });

  test("is not asked where there is no budget", () => {
    const talk = new CheckedTalk({ counter: { ...estimateCounter, countPart: () => never("asked") } });
    talk.say("x", "y");
    expect(talk.entries.flatMap((entry) => ("decided" in entry ? Object.keys(entry.decided ?? {}) : []))).toEqual([
      "cut",
    ]);
  });
});

test("a policy that throws is replaced by keeping all, which may not fit: both are reported", () => {
  const policy = { ...lastTurns(0), name: "broken", decide: () => never("no") };
  const talk = new CheckedTalk(within(10, 0, { policy }));
  talk.say("x".repeat(5), "y".repeat(4));
  talk.ask("z".repeat(5));
  expect(outcomeOf(talk)).toMatchObject({ unfit: { tokens: 14, fixed: 5 } });
  expect(talk.signals().map(({ type }) => type)).toContain("policy.failed");
});

function never(message: string): never {
  throw new Error(message);
}
