import { describe, expect, test } from "vitest";
import { lastTurnOf, type MachineOptions, textOf, turnNumbered, turnsOf } from "../../src/index.ts";
import { compactTurns, type CompactTurnsOptions } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { characterCounter } from "../hand-made.ts";
import { calling } from "../talk.ts";

// Rolling summaries of long threads. Each turn takes 200 tokens, and a prompt may hold 2,000 of them.

const options = (more: CompactTurnsOptions = {}): MachineOptions => ({
  policy: compactTurns({ keepTurns: 2, maxTokens: 300, instruction: "I", ...more }),
  counter: characterCounter,
  budget: { tokens: 2_300, reserve: 300 },
  tools: [{ name: "search" }],
});

const question = (turn: number): string => `q${turn}`.padEnd(100, ".");
const answer = (turn: number): string => `a${turn}`.padEnd(100, ".");
const heading = "Earlier in this conversation:\n";

/** The turns from one number to another, as a prompt shows them whole. */
const whole = (from: number, to: number): readonly string[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => [
    question(from + index),
    answer(from + index),
  ]).flat();

/** The turns that the summary that is out is to cover last, and what it is given to read. */
const wanted = (talk: CheckedTalk): { readonly to: number; readonly text: string } => {
  const text = talk.summary().messages.map(textOf)[1] ?? "";
  return { to: Number(/.*\nTurn (\d+)\n/su.exec(text)?.[1]), text };
};

/** So many turns, each asked for summary answered at once. */
const told = (turns: number, more?: CompactTurnsOptions): CheckedTalk => {
  const talk = new CheckedTalk(options(more));
  for (let turn = 1; turn <= turns; turn++) {
    talk.ask(question(turn));
    if (talk.isSummarising()) talk.summarise(`up to ${wanted(talk).to}`);
    talk.reply(answer(turn));
    if (talk.isSummarising()) talk.summarise(`up to ${wanted(talk).to}`);
  }
  return talk;
};

describe("a long thread", () => {
  test("is shown as one summary and what followed, at each of sixty turns as a plain model says", () => {
    const talk = new CheckedTalk(options());
    let upTo = 0;
    let label = "";
    let changes = 0;
    let before: readonly string[] = [];
    const note = (): void => {
      if (!talk.isSummarising()) return;
      const { to, text } = wanted(talk);
      expect(text).toContain(upTo === 0 ? "No prior conversation context." : `${label} up to ${upTo}`);
      for (let turn = upTo + 1; turn <= to; turn++) expect(text).toContain(question(turn));
      expect(text).not.toContain(question(upTo));
      talk.summarise(`up to ${to}`);
      [upTo, label] = [to, `[Turns 1 to ${to}]`];
      before = [];
      changes++;
    };
    for (let turn = 1; turn <= 60; turn++) {
      talk.ask(question(turn));
      expect(talk.state.value).toEqual({ awaiting_llm: "responding" });
      const summary = upTo === 0 ? [] : [`${heading}${label} up to ${upTo}`];
      expect(talk.sent()).toEqual([...summary, ...whole(upTo + 1, turn - 1), question(turn)]);
      expect(talk.sent().join("").length).toBeLessThanOrEqual(2_000);
      expect(talk.sent().slice(0, before.length)).toEqual(before);
      before = talk.sent();
      note();
      talk.reply(answer(turn));
      note();
    }
    expect(changes).toBeGreaterThan(5);
    expect(changes).toBeLessThan(20);
    expect(turnsOf(talk.state)).toHaveLength(60);
    expect(turnNumbered(talk.state, 50)?.messages).toHaveLength(2);
    talk.replays();
  });

  test("waits for a summary only when the next prompt does not fit without it", () => {
    const talk = new CheckedTalk(options());
    for (let turn = 1; turn <= 9; turn++) talk.say(question(turn), answer(turn));
    expect(talk.isSummarising()).toBe(true);
    talk.ask("q".repeat(190));
    expect(talk.state.value).toEqual({ awaiting_llm: "responding" });
    talk.reply("a");
    talk.ask("q".repeat(100));
    expect(talk.state.value).toEqual({ awaiting_llm: "compacting" });
    const { to } = wanted(talk);
    talk.summarise("notes");
    expect(talk.sent().slice(0, 2)).toEqual([`${heading}[Turns 1 to ${to}] notes`, question(to + 1)]);
    talk.replays();
  });

  test("between the steps of one long turn too; the open turn stays whole", () => {
    const talk = told(4);
    expect(talk.state.context.summaries).toBe(0);
    talk.ask("Look.");
    for (let step = 0; step < 4; step++) {
      talk.reply(calling("search"));
      talk.result(0, "found ".repeat(50));
      if (talk.isSummarising()) talk.summarise("notes");
    }
    expect(talk.sent()[0]).toContain("notes");
    expect(talk.sent().slice(-9)).toEqual([
      "Look.",
      ...Array.from({ length: 4 }, () => ["", "found ".repeat(50)]).flat(),
    ]);
    talk.replays();
  });

  test("an undo behind the summary shows the turns again, and a redo the summary", () => {
    const talk = told(20);
    talk.ask("?");
    const before = talk.sent();
    expect(before[0]).toContain("up to");
    talk.tell({ type: "cancel.requested" });
    talk.tell({ type: "head.moved", to: 3 });
    talk.ask("?");
    expect(talk.sent()).toEqual([...whole(1, 3), "?"]);
    talk.tell({ type: "cancel.requested" });
    talk.tell({ type: "head.moved", to: 20 });
    talk.ask("?");
    expect(talk.sent()).toEqual(before);
    talk.replays();
  });

  test("a pinned message stays, whichever summary covers its turn", () => {
    const talk = told(4);
    talk.tell({ type: "message.pinned", message: "2.0", pinned: true });
    for (let turn = 5; turn <= 20; turn++) {
      talk.say(question(turn), answer(turn));
      if (talk.isSummarising()) talk.summarise(`up to ${wanted(talk).to}`);
    }
    talk.ask("?");
    expect(talk.sent().slice(0, 2)).toEqual([expect.stringContaining("up to"), question(2)]);
    expect(talk.sent()).not.toContain(question(3));
  });
});

describe("a summariser that never does its work", () => {
  const bad: readonly (readonly [string, (talk: CheckedTalk) => void])[] = [
    ["fails", (talk) => talk.failSummary()],
    ["says nothing", (talk) => talk.summarise("")],
    ["says too much", (talk) => talk.summarise("s".repeat(301))],
    [
      "does not answer in time",
      (talk) => (talk.state.value === "completed" ? talk.failSummary() : talk.fire("summary")),
    ],
  ];

  test.each(bad)("costs no answer when it %s: what does not fit is left out", (_, fail) => {
    const talk = new CheckedTalk(options());
    let asked = 0;
    for (let turn = 1; turn <= 30; turn++) {
      talk.ask(question(turn));
      while (talk.isSummarising() && !talk.isCalling()) [asked] = [asked + 1, fail(talk)];
      expect(talk.sent().join("").length).toBeLessThanOrEqual(2_000);
      expect(talk.sent().at(-1)).toBe(question(turn));
      expect(talk.sent().length).toBeGreaterThan(Math.min(turn * 2 - 2, 16));
      talk.reply(answer(turn));
      if (talk.isSummarising()) [asked] = [asked + 1, talk.failSummary()];
      expect(lastTurnOf(talk.state)?.outcome.status).toBe("completed");
    }
    expect(asked).toBeGreaterThan(2);
    expect(asked).toBeLessThan(70);
    expect(turnsOf(talk.state)).toHaveLength(30);
    talk.replays();
  });

  test("what it could not do it may do later", () => {
    const talk = new CheckedTalk(options());
    for (let turn = 1; turn <= 30; turn++) {
      const work = (): unknown => (turn < 20 ? talk.failSummary() : talk.summarise("notes"));
      talk.ask(question(turn));
      while (talk.isSummarising()) work();
      talk.reply(answer(turn));
      while (talk.isSummarising()) work();
    }
    talk.ask(question(31));
    expect(talk.sent()[0]).toMatch(/\[Turns 1 to \d+\] notes$/u);
    talk.replays();
  });
});

test("as many of the newest turns stay as there is room for, beside a long question", () => {
  const summarisedTo = (newest: number): number => {
    const talk = told(3);
    talk.ask(question(4));
    talk.reply("a4".padEnd(newest - 100, "."));
    talk.ask("q5".padEnd(1_000, "."));
    return wanted(talk).to;
  };
  // The question leaves 1,000 tokens, of which the summary may take 300. Older turns take 200 each.
  expect(summarisedTo(690)).toBe(3);
  expect(summarisedTo(450)).toBe(2);
  expect(summarisedTo(800)).toBe(4);
});
