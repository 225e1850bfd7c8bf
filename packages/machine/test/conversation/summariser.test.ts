import { describe, expect, test } from "vitest";
import { conversationMachine, lastTurnOf, promptOf, transition, turnNumbered } from "../../src/index.ts";
import { type Counter, type Policy, type PolicyInput, type SummaryWanted } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { asking, characterCounter, rolling } from "../hand-made.ts";
import { calling } from "../talk.ts";

// When a policy is asked what to summarise, and what follows from its answer.

describe("a summariser", () => {
  test("is asked before a call, when a turn was answered, and when a summary has come; not while one is written", () => {
    let asked = 0;
    let wanted: SummaryWanted | null = null;
    const next = () => (asked++, wanted);
    const talk = new CheckedTalk({
      policy: asking(next),
      tools: [{ name: "search" }],
      retry: { baseDelayMs: 0 },
    });
    const times = (act: () => void): number => {
      // Each event is handled twice, for comparison.
      asked = 0;
      act();
      return asked / 2;
    };
    expect(times(() => talk.ask("One"))).toBe(1);
    expect(times(() => talk.reply(calling("search", "search")))).toBe(0);
    expect(times(() => talk.result(0, "first"))).toBe(0);
    expect(times(() => talk.result(1, "second"))).toBe(1);
    expect(times(() => talk.fail({ retryable: true }))).toBe(0);
    expect(times(() => talk.fire("retry"))).toBe(1);
    expect(times(() => talk.tell({ type: "message.appended", message: { role: "user", content: "x" } }))).toBe(0);
    wanted = { covers: { from: 1, to: 1 }, earlier: null };
    expect(times(() => talk.reply("Done."))).toBe(1);
    expect(times(() => talk.ask("Two"))).toBe(0);
    expect(times(() => talk.failSummary())).toBe(0);
    expect(times(() => talk.reply("Done."))).toBe(1);
    wanted = null;
    expect(times(() => talk.summarise("S1"))).toBe(1);
  });

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

  test("gets the same input as before the call: the open turn among the fixed units, and the failed attempts", () => {
    const seen: (readonly (number | string)[])[] = [];
    const next = ({ history }: PolicyInput): SummaryWanted | null => {
      const [newest] = history.newestFirst();
      seen.push([
        newest?.summaryFailures ?? "none",
        newest?.summaries.length ?? "none",
        ...history.fixed().map(({ id }) => id),
      ]);
      return newest === undefined || newest.summaryFailures > 0 ? null : { covers: { from: 1, to: 1 }, earlier: null };
    };
    const talk = new CheckedTalk({ policy: asking(next) });
    talk.ask("One");
    expect(seen.at(-1)).toEqual(["none", "none", "1.0"]);
    talk.reply("1");
    expect(seen.at(-1)).toEqual([0, 0]);
    talk.failSummary();
    talk.ask("Two");
    expect(seen.at(-1)).toEqual([1, 0, "2.0"]);
  });

  test("has nothing written before the thread was configured with it: the instruction is not known", () => {
    const talk = new CheckedTalk();
    talk.say("One", "1");
    const machine = conversationMachine({ policy: rolling({ keep: 0 }) });
    const told = transition(machine, talk.state, { type: "ask.received", at: 9, askId: "b", input: "Two" });
    expect(told.effects.filter(({ type }) => type === "callLlm")).toHaveLength(1);
    const under = talk.under({ policy: rolling({ keep: 0 }) });
    under.ask("Two");
    expect(under.summary().messages[0]?.parts).toEqual([{ type: "text", text: "Sum it up." }]);
  });

  test("whose instruction changes while a summary is written changes the next one's", () => {
    const talk = new CheckedTalk({ policy: rolling({ keep: 0 }) });
    talk.say("One", "1");
    const policy = rolling({ keep: 0 });
    const { summariser } = policy;
    const shorter = summariser === undefined ? {} : { summariser: { ...summariser, instruction: "Shorter." } };
    const under = talk.under({ policy: { ...policy, name: "shorter", ...shorter } });
    expect(under.summary().messages[0]?.parts).toEqual([{ type: "text", text: "Sum it up." }]);
    under.failSummary();
    under.ask("Two");
    expect(under.summary().messages[0]?.parts).toEqual([{ type: "text", text: "Shorter." }]);
  });
});

test("a policy without summaries does not wait for one that an earlier policy requested", () => {
  const first = new CheckedTalk({ policy: rolling({ keep: 0 }) });
  first.say("One", "1");
  expect(first.isSummarising()).toBe(true);
  const talk = first.under({ budget: { tokens: 10, reserve: 0 }, counter: characterCounter });
  talk.ask("a question that does not fit");
  expect(lastTurnOf(talk.state)).toMatchObject({ outcome: { status: "failed", unfit: { available: 10 } } });
});

test("a prompt that does without a summary is the one that the next prompt would show", () => {
  const shifting: Policy = {
    ...asking(() => null),
    name: "shifting",
    decide: ({ withoutSummary, lastCut }) => {
      const turn = withoutSummary ? 3 : lastCut?.from?.turn === 2 || lastCut?.from?.turn === 3 ? 2 : null;
      return { from: turn === null ? null : { turn, unit: 0 }, reason: "as asked" };
    },
  };
  const talk = new CheckedTalk({ counter: characterCounter });
  for (const turn of [1, 2, 3]) talk.say("four", `${turn}`);
  const machine = conversationMachine({
    policy: shifting,
    counter: characterCounter,
    budget: { tokens: 10, reserve: 0 },
  });
  const { cut, fits } = promptOf(machine, talk.state);
  expect({ fits, from: cut.from }).toEqual({ fits: true, from: { turn: 2, unit: 0 } });
  expect(promptOf(machine, { ...talk.state, context: { ...talk.state.context, cut } }).cut).toEqual(cut);
});

test("a summary that the counter can't count is used: it is not known to be too long", () => {
  const counter: Counter = { ...characterCounter, countPart: () => never("no") };
  const talk = new CheckedTalk({ policy: rolling({ keep: 0, maxTokens: 1 }), counter });
  talk.say("One", "1");
  talk.summarise("S1");
  expect(turnNumbered(talk.state, 1)?.summaries).toHaveLength(1);
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
