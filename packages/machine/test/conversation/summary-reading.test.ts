import { describe, expect, test } from "vitest";
import { type CallLlm, textOf, turnsOf } from "../../src/index.ts";
import { compactTurns, compose, estimateCounter, omitFields } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter, requestTokens, rolling } from "../hand-made.ts";
import { calling } from "../talk.ts";

// The input of the model that writes a summary: no more than prompts may show, and no more than fits.

const summaryOut = (talk: CheckedTalk): CallLlm | undefined =>
  talk.out().find((effect): effect is CallLlm => effect.type === "callLlm" && effect.purpose === "summary");

const readBy = (talk: CheckedTalk): string => {
  const call = summaryOut(talk);
  if (call === undefined) throw new Error("no summary is asked for");
  return call.messages.map(textOf).join("\n");
};

describe("what a summary reads", () => {
  test("has no field that prompts leave out", () => {
    const talk = new CheckedTalk({ policy: compose(omitFields(["secret"]), rolling({ keep: 0 })) });
    const input = [
      { type: "data" as const, field: "question", value: "Why?" },
      { type: "data" as const, field: "secret", value: "PASSWORD" },
    ];
    talk.tell({ type: "ask.received", askId: "a", input });
    talk.reply("Because.");

    expect(readBy(talk)).toContain("question: Why?");
    expect(readBy(talk)).not.toContain("PASSWORD");
    expect(talk.entries.at(-1)).toMatchObject({ decided: { summary: { fields: { omit: ["secret"] } } } });
  });

  test("has no interrupted turn where those are left out", () => {
    const talk = new CheckedTalk({ policy: rolling({ keep: 0 }), interrupted: "omit" });
    talk.ask("CANCELLED");
    talk.tell({ type: "cancel.requested" });
    talk.ask("Again?");
    talk.reply("Yes.");

    expect(readBy(talk)).toContain("Again?");
    expect(readBy(talk)).not.toContain("CANCELLED");
  });

  test("is shortened, text by text, until it fits", () => {
    const room = 5_000;
    const talk = new CheckedTalk({
      policy: rolling({ keep: 0 }),
      counter: characterCounter,
      budget: { tokens: room, reserve: 0 },
      tools: [{ name: "search" }],
    });
    talk.ask("Look it up.");
    talk.reply(calling("search"));
    talk.result(0, "found ".repeat(500));
    talk.reply("It is there.");
    expect(readBy(talk).length).toBeLessThanOrEqual(room);

    const narrow = talk.under({
      policy: rolling({ keep: 0 }),
      counter: { ...characterCounter, name: "dear", countPart: (part) => 4 * characterCounter.countPart(part) },
      budget: { tokens: room, reserve: 0 },
      tools: [{ name: "search" }],
    });
    narrow.summarise("They looked.");
    narrow.ask("And again?");
    narrow.reply("w".repeat(2_000));
    expect(narrow.entries.at(-1)).toMatchObject({ decided: { summary: { characters: expect.any(Number) } } });
    expect(4 * readBy(narrow).length).toBeLessThanOrEqual(room);
  });

  test("what does not fit however short is not sent, and has failed", () => {
    const dear = { ...estimateCounter, name: "dear", countPart: () => 3_000 };
    const talk = new CheckedTalk({
      policy: rolling({ keep: 0 }),
      counter: dear,
      budget: { tokens: 6_010, reserve: 0 },
    });
    talk.ask("Why?");
    talk.tell({ type: "llm.completed", effectId: talk.call().id, reply: {}, finishReason: "stop" });

    expect(summaryOut(talk)?.id ?? null).toBeNull();
    expect(talk.signals()).toContainEqual(expect.objectContaining({ type: "summary.failed" }));
    expect(turnsOf(talk.state)[0]?.summaryFailures).toBe(1);
  });

  test.each([
    ["ends as unfit", "keep", "error"],
    ["is made without, where its policy can", "drop", { awaiting_llm: "responding" }],
  ] as const)("what does not fit is not waited for: the call %s", (_, without, value) => {
    const talk = new CheckedTalk({
      policy: rolling({ keep: 0, when: "full", without }),
      counter: { ...characterCounter, name: "dear", countPart: () => requestTokens },
      budget: { tokens: 2 * requestTokens, reserve: 0 },
    });
    talk.say("Why?", "Because.");
    talk.ask("And why is that?");

    expect(talk.isSummarising()).toBe(false);
    expect(talk.signals()).toContainEqual(
      expect.objectContaining({ type: "summary.failed", covers: { from: 1, to: 1 } }),
    );
    expect(turnsOf(talk.state)[0]?.summaryFailures).toBe(1);
    expect(talk.state.value).toEqual(value);
  });
});

test("a call may wait for several summaries, under one timer", () => {
  const talk = new CheckedTalk({
    policy: compactTurns({ keepTurns: 1, at: 0.5, maxTokens: 60 }),
    counter: characterCounter,
    budget: { tokens: 900, reserve: 0 },
    calibrate: false,
  });
  for (let turn = 1; turn <= 3; turn++) {
    talk.ask("q".repeat(60));
    talk.reply("a".repeat(60));
    if (summaryOut(talk) !== undefined) talk.failSummary();
  }
  talk.ask("q".repeat(700));
  let waits = 0;
  for (; talk.state.context.open?.stage.type === "compacting" && waits < 5; waits++) {
    const timers = talk.out().filter(({ type }) => type === "startTimer");
    expect(timers).toHaveLength(1);
    talk.summarise("They spoke.");
  }
  expect(talk.call().messages.map(textOf).join("").length).toBeLessThanOrEqual(900);
});
