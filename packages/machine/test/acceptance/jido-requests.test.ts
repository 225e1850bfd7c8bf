import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  lastTurnOf,
  noUsage,
  phaseOf,
  type ReportedUsage,
  turnsOf,
  type Usage,
  usageMonoid,
  usageOfCall,
} from "../../src/index.ts";
import { decodeEvent } from "../../src/journal.ts";
import { calling, Talk } from "../talk.ts";

// Repeats Jido AI's own tests and code about repeated requests, incomplete answers, and usage. If this machine answers
// otherwise, the test's name says so.

const talk = (): Talk => new Talk(conversationMachine({ tools: [{ name: "search" }] }));

describe("27: what comes twice under one id", () => {
  test("an ask counts once: the first wins, and the repeat is refused as stale and leaves no entry", () => {
    const conversation = talk();
    conversation.ask("Q1", "one");
    const { seq } = conversation.state.context;
    const repeat = { type: "ask.received", askId: "one", input: "Q1" } as const;
    const other = { ...repeat, input: "another question" };
    expect(conversation.refused(repeat)).toMatchObject({ kind: "stale" });
    expect(conversation.refused(other)).toMatchObject({ kind: "invalid", reason: expect.stringContaining('"one"') });
    conversation.reply("A1");
    expect(conversation.refused(repeat)).toMatchObject({ kind: "stale", turn: 1 });
    expect(conversation.refused(other)).toMatchObject({ kind: "invalid" });
    expect(conversation.state.context.seq).toBe(seq + 1);
  });

  test("an edit has no id (theirs has): moving the head again leads to the same place, a turn by hand is there twice", () => {
    const conversation = talk();
    conversation.ask("Q1");
    conversation.reply("A1");
    conversation.tell({ type: "head.moved", to: 0 });
    const moved = conversation.state.context.conversation;
    conversation.tell({ type: "head.moved", to: 0 });
    expect(conversation.state.context.conversation).toEqual(moved);
    const messages = [{ role: "user" as const, content: "by hand" }];
    conversation.tell({ type: "turn.added", messages });
    conversation.tell({ type: "turn.added", messages });
    expect(turnsOf(conversation.state).map(({ number }) => number)).toEqual([2, 3]);
  });
});

describe("37: an answer that ended for its length", () => {
  test("and is blank completes its turn, and the outcome says length (theirs fails the request; both keep the usage)", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply({}, { finishReason: "length", usage: { inputTokens: 3, outputTokens: 0 } });
    expect(phaseOf(conversation.state)).toBe("completed");
    const turn = lastTurnOf(conversation.state);
    expect(turn?.outcome).toEqual({ status: "completed", finishReason: "length" });
    expect(turn?.usage).toMatchObject({ inputTokens: { sum: 3 }, outputTokens: { sum: 0, reported: 1 } });
  });

  test("and is not blank completes it as well, and the outcome says the same", () => {
    const conversation = talk();
    conversation.ask("Hello");
    conversation.reply("As far as", { finishReason: "length" });
    expect(lastTurnOf(conversation.state)?.outcome).toEqual({ status: "completed", finishReason: "length" });
  });
});

describe("38: usage adds up", () => {
  const of = (...reports: readonly ReportedUsage[]): Usage =>
    reports.map((report) => usageOfCall(report, null)).reduce(usageMonoid.concat, noUsage);

  test("10 and 7 are 17, and .001 and .002 of a currency .003 exactly (in billionths, so that nothing is rounded)", () => {
    expect(of({ inputTokens: 10 }, { inputTokens: 7 }).inputTokens.sum).toBe(17);
    const cost = (nano: number): Usage => usageOfCall(null, { nano, currency: "USD" });
    expect(usageMonoid.concat(cost(1_000_000), cost(2_000_000)).cost["USD"]?.sum).toBe(3_000_000);
  });

  test("where no total is reported it is the sum of both sides, and else what is reported", () => {
    expect(of({ inputTokens: 2, outputTokens: 5 }).totalTokens.sum).toBe(7);
    expect(of({ inputTokens: 2, outputTokens: 5, totalTokens: 99 }).totalTokens.sum).toBe(99);
  });

  test("a number that came as a text is refused as no event (theirs adds it; reading the names that a server uses is the handler's)", () => {
    const event = { type: "llm.completed", at: 1, effectId: "t/1.1#1", reply: {}, finishReason: "stop" };
    expect(decodeEvent({ ...event, usage: { inputTokens: 10 } })).toHaveProperty("_tag", "Right");
    expect(decodeEvent({ ...event, usage: { inputTokens: "10" } })).toMatchObject({
      left: { path: "usage.inputTokens" },
    });
  });

  test("an id in a report is not added to anything", () => {
    const provider = { id: 5 };
    expect(of({ inputTokens: 10, provider }, { inputTokens: 7, provider })).toEqual(
      of({ inputTokens: 10 }, { inputTokens: 7 }),
    );
  });
});

test("46: a last call with an empty report keeps what the turn had used (and counts as one that did not say)", () => {
  const conversation = talk();
  conversation.ask("Hello");
  conversation.reply(calling("search"), { usage: { inputTokens: 3, outputTokens: 1 } });
  conversation.result(0, "found");
  conversation.reply("Done.", { usage: {} });
  expect(lastTurnOf(conversation.state)?.usage).toMatchObject({
    calls: 2,
    inputTokens: { sum: 3, reported: 1, unreported: 1 },
    outputTokens: { sum: 1, reported: 1, unreported: 1 },
  });
});

test("21: usage is kept for the thread, over all turns (Jido loses that of the turns before)", () => {
  const conversation = talk();
  conversation.ask("One");
  conversation.reply("1", { usage: { inputTokens: 50, outputTokens: 25 } });
  conversation.ask("Two");
  conversation.reply("2", { usage: { inputTokens: 10, outputTokens: 5 } });
  expect(conversation.state.context.usage.total).toMatchObject({
    inputTokens: { sum: 60 },
    outputTokens: { sum: 30 },
    totalTokens: { sum: 90 },
  });
});
