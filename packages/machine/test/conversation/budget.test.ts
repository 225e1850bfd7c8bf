import { describe, expect, test } from "vitest";
import { conversationMachine, lastTurnOf, type MachineOptions, promptOf, textOf } from "../../src/index.ts";
import { type Counter, estimateCounter, keepAll, lastTurns } from "../../src/policies.ts";
import { callsAmong, CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { calling } from "../talk.ts";

// No prompt that does not fit is ever sent: the turn ends instead, with the numbers, and nothing was asked for.

const within = (tokens: number, reserve = 0, more: MachineOptions = {}): MachineOptions => ({
  counter: characterCounter,
  budget: { tokens, reserve },
  tools: [{ name: "search" }],
  retry: { baseDelayMs: 0 },
  ...more,
});

const outcomeOf = (talk: CheckedTalk) => lastTurnOf(talk.state)?.outcome;

describe("a prompt", () => {
  test.each([
    [10, 0],
    [13, 3],
  ])(
    "of exactly what there is room for is sent, and of one token more is not (budget %i, reserve %i)",
    (tokens, reserve) => {
      const exact = new CheckedTalk(within(tokens, reserve));
      exact.ask("x".repeat(10));
      expect(exact.sent()).toEqual(["x".repeat(10)]);
      const over = new CheckedTalk(within(tokens, reserve));
      over.ask("x".repeat(11));
      expect(outcomeOf(over)).toEqual({
        status: "failed",
        unfit: {
          tokens: 11,
          available: 10,
          budget: tokens,
          reserve,
          fixed: 11,
          largest: { message: "1.0", tokens: 11 },
        },
      });
    },
  );

  test("that does not fit asks for nothing: the turn has made no step, and observers are notified why it ended", () => {
    const talk = new CheckedTalk(within(10));
    talk.ask("x".repeat(11));
    expect(talk.state.value).toBe("error");
    expect(talk.told()).toEqual(["turn.started", "context.warning", "context.unfit", "turn.ended", "thread.updated"]);
    expect(lastTurnOf(talk.state)).toMatchObject({
      steps: 0,
      toolCalls: 0,
      usage: { calls: 0 },
      messages: { length: 1 },
    });
    talk.replays();
  });

  test("is counted with the system message, and with what each message and prompt costs beside its text", () => {
    const counter: Counter = { ...characterCounter, name: "framed", perMessage: 4, perPrompt: 3 };
    const talk = new CheckedTalk(within(30, 0, { counter }), { system: "s".repeat(10) });
    talk.ask("x".repeat(10));
    expect(outcomeOf(talk)).toMatchObject({ unfit: { tokens: 3 + 14 + 14, fixed: 3 + 14 + 14 } });
    talk.tell({ type: "head.moved", to: 0 });
    talk.ask("x".repeat(9));
    expect(talk.isCalling()).toBe(true);
  });

  test("fits again when less is asked, or more is left out, or the budget grows", () => {
    const talk = new CheckedTalk(within(10));
    talk.say("x".repeat(5), "y");
    talk.ask("x".repeat(5));
    expect(outcomeOf(talk)).toMatchObject({
      unfit: { tokens: 11, fixed: 5, largest: { message: "2.0", tokens: 5 } },
    });
    talk.tell({ type: "head.moved", to: 1 });
    talk.ask("x".repeat(4));
    expect(talk.isCalling()).toBe(true);
    talk.reply("y");
    const windowed = talk.under(within(10, 0, { policy: lastTurns(0) }));
    windowed.ask("x".repeat(10));
    expect(windowed.sent()).toEqual(["x".repeat(10)]);
    windowed.reply("y");
    const larger = windowed.under(within(100));
    larger.ask("z");
    expect(larger.sent()).toHaveLength(7);
  });

  test("of nothing but the policy's choice: a system message that it leaves out takes no room", () => {
    const policy = {
      ...keepAll(),
      name: "silent",
      decide: () => ({ from: null, system: "omit" as const, reason: "" }),
    };
    const talk = new CheckedTalk(within(10, 0, { policy }), { system: "s".repeat(10) });
    talk.ask("x".repeat(10));
    expect(talk.sent()).toEqual(["x".repeat(10)]);
  });
});

describe("zero means zero", () => {
  test.each([
    [0, 0],
    [10, 10],
  ])("a budget of %i with a reserve of %i sends nothing", (tokens, reserve) => {
    const talk = new CheckedTalk(within(tokens, reserve));
    talk.ask("x");
    expect(outcomeOf(talk)).toMatchObject({ unfit: { tokens: 1, available: 0 } });
  });

  test.each([
    { tokens: -1, reserve: 0 },
    { tokens: 1.5, reserve: 0 },
    { tokens: 10, reserve: 11 },
    { tokens: Number.NaN, reserve: 0 },
    { tokens: 10, reserve: -1 },
  ])("a budget of %j can't be meant", (budget) => {
    expect(() => conversationMachine({ budget })).toThrow("budget");
  });
});

describe("a turn that no longer fits", () => {
  test("after a tool's result ends with its round whole, and with the steps that were made", () => {
    const talk = new CheckedTalk(within(20));
    talk.ask("where?");
    talk.reply(calling("search"), { usage: { totalTokens: 5 } });
    talk.result(0, "found".repeat(3));
    expect(callsAmong(talk.effects, "answer")).toEqual([]);
    expect(lastTurnOf(talk.state)).toMatchObject({
      steps: 1,
      toolCalls: 1,
      usage: { calls: 1 },
      messages: { length: 3 },
      outcome: { unfit: { tokens: 6 + 8 + 15, available: 20, largest: { message: "1.1.0", tokens: 15 } } },
    });
    talk.replays();
  });

  test("after a tool that is not there ends as well", () => {
    const talk = new CheckedTalk(within(20));
    talk.ask("where?");
    talk.reply(calling("fly"));
    expect(outcomeOf(talk)).toMatchObject({ unfit: { available: 20 } });
  });

  test("on a retry ends as well", () => {
    const talk = new CheckedTalk(within(20));
    talk.ask("where?");
    talk.fail({ retryable: true });
    talk.tell({ type: "message.appended", message: { role: "user", content: "x".repeat(15) } });
    talk.fire("retry");
    expect(lastTurnOf(talk.state)).toMatchObject({ steps: 1, usage: { calls: 1 }, outcome: { unfit: { tokens: 21 } } });
  });

  test("out of the queue wakes the next one", () => {
    const talk = new CheckedTalk(within(20, 0, { overlap: { type: "queue", max: 2 } }));
    talk.ask("one");
    talk.ask("x".repeat(30), "too long");
    talk.ask("three");
    talk.reply("1");
    talk.fire("queue");
    expect(outcomeOf(talk)).toMatchObject({ unfit: { tokens: 34 } });
    expect(talk.out()).toMatchObject([{ type: "startTimer", purpose: "queue" }]);
  });

  test("bears a limit that stands before the prompt: nothing is counted then", () => {
    const talk = new CheckedTalk(within(0, 0, { limits: { steps: 0 } }));
    talk.ask("x");
    expect(outcomeOf(talk)).toMatchObject({ limit: { limit: "steps" } });
  });
});

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
