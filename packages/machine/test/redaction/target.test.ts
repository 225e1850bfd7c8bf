import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { conversationMachine, type MachineOptions, messagesOf, textOf, toArray } from "../../src/index.ts";
import { entriesToRedact, redactEntry, type RedactionTarget } from "../../src/storage.ts";
import { type Policy, summariseTurns } from "../../src/policies.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { runs } from "../runs.ts";
import { calling } from "../talk.ts";
import { wordedMoves, wordedTalk } from "./worded-talk.ts";
import { foldOf, right } from "../reading.ts";

/** Returns the seqs that a target removes. Exactly its words must be gone from journal and state. */
const gone = (talk: CheckedTalk, target: RedactionTarget, words: string, kept: string): readonly number[] => {
  const seqs = right(entriesToRedact(talk.entries, target));
  const without = talk.entries.map((entry) => (seqs.includes(entry.seq) ? redactEntry(entry) : entry));
  for (const text of [JSON.stringify(without), JSON.stringify(foldOf(without))]) {
    for (const word of words.split(" ")) expect(text).not.toContain(word);
    for (const word of kept.split(" ")) expect(text).toContain(word);
  }
  return seqs;
};

const tools: MachineOptions = {
  tools: [
    { name: "lookup", recovery: "once" },
    { name: "pay", approval: "always" },
  ],
  overlap: { type: "queue", max: 5 },
  limits: { deadlineMs: 100_000 },
};

describe("the entries of a turn", () => {
  test("are its ask, its replies, its calls and results, and remarks about it", () => {
    const talk = new CheckedTalk(tools);
    talk.say("first-ask", "first-answer");
    talk.tell({ type: "message.appended", message: { role: "user", content: "led-by" } });
    talk.ask("second-ask", "b");
    talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial: { content: "shown-first" } });
    talk.fail({ retryable: true, message: "failed-with" });
    talk.fire("retry");
    talk.reply({
      content: "let-me",
      toolCalls: [
        { id: "call_0", name: "lookup", arguments: '{"of":"wanted"}' },
        { id: "call_1", name: "pay", arguments: '{"to":"whom"}' },
      ],
    });
    talk.tell({ type: "tool.started", effectId: "t/2.1.0#1" });
    talk.tell({ type: "tool.withheld", effectId: "t/2.1.1#1", because: "declared", arguments: { to: "whom" } });
    talk.tell({ type: "approval.answered", effectId: "t/2.1.1!approval-1", approved: false, reason: "too-much" });
    talk.tell({ type: "message.appended", message: { role: "user", content: "meanwhile" } });
    talk.tell({ type: "tool.completed", effectId: "t/2.1.0#1", content: "was-found" });
    talk.reply("second-answer");
    talk.say("third-ask", "third-answer");
    talk.tell({ type: "turn.annotated", turn: 2, name: "note", value: "not-good", metadata: { by: "reviewer-one" } });
    talk.tell({ type: "turn.annotated", turn: 1, name: "note", value: "quite-good" });
    const words =
      "led-by second-ask shown-first failed-with let-me wanted whom too-much meanwhile was-found second-answer not-good reviewer-one";
    const kept = "first-ask first-answer third-ask third-answer quite-good lookup pay call_0";
    const seqs = gone(talk, { turn: 2 }, words, kept);
    gone(talk, { message: "2.2" }, "let-me wanted whom", "second-ask too-much was-found second-answer");
    gone(talk, { message: "2.1.1" }, "too-much", "let-me wanted whom was-found");
    expect(seqs.map((seq) => talk.entries[seq]?.event.type)).toEqual([
      "message.appended",
      "ask.received",
      "llm.progressed",
      "llm.failed",
      "llm.completed",
      "tool.withheld",
      "approval.answered",
      "message.appended",
      "tool.completed",
      "llm.completed",
      "turn.annotated",
    ]);
  });

  test("are those where an ask came in that waited, joined, or took its turn with others", () => {
    const talk = new CheckedTalk({ ...tools, overlap: { type: "merge", max: 5 } });
    talk.ask("one-ask", "a");
    talk.ask("two-ask", "b");
    talk.ask("three-ask", "c");
    talk.reply("one-answer");
    talk.fire("queue");
    talk.reply(calling("lookup"));
    talk.tell({ type: "ask.received", askId: "d", input: "joined-ask", joins: {} });
    talk.tell({ type: "tool.completed", effectId: "t/2.1.0#1", content: "found-it" });
    talk.reply("two-answer");
    gone(talk, { turn: 2 }, "two-ask three-ask joined-ask found-it two-answer", "one-ask one-answer");
    gone(talk, { turn: 1 }, "one-ask one-answer", "two-ask three-ask joined-ask found-it two-answer");
    gone(talk, { message: "2.1" }, "three-ask", "one-ask two-ask joined-ask found-it two-answer");
    gone(talk, { message: "2.3" }, "joined-ask", "one-ask two-ask three-ask found-it two-answer");
  });

  test("are that of a waiting ask whose only content is a shown part", () => {
    const talk = new CheckedTalk(tools);
    talk.ask("one-ask", "a");
    talk.tell({ type: "ask.received", askId: "b", input: [], metadata: { of: "brought-along" } });
    talk.reply("one-answer");
    talk.fire("queue");
    talk.reply("two-answer");
    gone(talk, { turn: 2 }, "brought-along two-answer", "one-ask one-answer");
  });

  test("are that of a cancel, though nothing had been shown", () => {
    const talk = new CheckedTalk(tools);
    talk.ask("one");
    talk.tell({ type: "cancel.requested", reason: "because" });
    talk.say("two", "second");
    expect(gone(talk, { turn: 1 }, "because", "second")).toEqual([1, 2]);
  });

  test("are that of a cancel with the shown part, and that of a deadline", () => {
    const talk = new CheckedTalk(tools);
    talk.ask("one-ask");
    talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial: { content: "half-one" } });
    talk.tell({ type: "cancel.requested", partial: { content: "half-one more-one" }, reason: "because-one" });
    talk.ask("two-ask");
    talk.reply(calling("lookup"));
    talk.fire("deadline");
    talk.ask("three-ask");
    gone(talk, { turn: 1 }, "one-ask half-one more-one because-one", "two-ask three-ask");
    gone(talk, { message: "1.1" }, "half-one more-one because-one", "one-ask two-ask three-ask");
    expect(gone(talk, { turn: 3 }, "three-ask", "one-ask two-ask")).toHaveLength(1);
  });

  test("are that of the ask that interrupted it, before anything was shown", () => {
    const talk = new CheckedTalk({ ...tools, overlap: { type: "interrupt" } });
    talk.ask("one-ask");
    talk.ask("two-ask");
    talk.fire("queue");
    talk.reply("two-answer");
    expect(gone(talk, { turn: 1 }, "one-ask two-ask", "two-answer")).toEqual([1, 2]);
  });

  test("are the beginning for turn 0, though nothing was said there", () => {
    const talk = new CheckedTalk(tools, { metadata: { of: "somebody" } });
    talk.say("one-ask", "one-answer");
    expect(gone(talk, { turn: 0 }, "somebody", "one-ask one-answer")).toEqual([0]);
  });

  test("are no other turn's, though both were stopped while something was shown", () => {
    const talk = new CheckedTalk(tools);
    for (const shown of ["half-one", "half-two"]) {
      talk.ask(`${shown}-ask`);
      talk.tell({ type: "llm.progressed", effectId: talk.call().id, partial: { content: `${shown}-shown` } });
      talk.tell({ type: "cancel.requested" });
    }
    gone(talk, { message: "2.1" }, "half-two-shown", "half-one-shown half-two-ask");
  });

  test("are that of an approval, where a person is named who gave it", () => {
    const talk = new CheckedTalk(tools);
    talk.ask("one-ask");
    talk.reply(calling("pay"));
    talk.tell({ type: "tool.withheld", effectId: "t/1.1.0#1", because: "declared", arguments: {} });
    const approval = "t/1.1.0!approval-1";
    talk.tell({ type: "approval.answered", effectId: approval, approved: true, by: "jane-doe" });
    talk.tell({ type: "tool.completed", effectId: "t/1.1.0#2", content: "was-paid" });
    talk.reply("one-answer");
    gone(talk, { turn: 1 }, "one-ask jane-doe was-paid one-answer", "pay");
  });

  test("are the one in which it was written by hand, with its metadata, and that of what led it", () => {
    const talk = new CheckedTalk();
    talk.tell({ type: "message.appended", message: { role: "user", content: "led-by" } });
    talk.tell({ type: "turn.added", messages: [{ role: "user", content: "by-hand" }], metadata: { of: "somebody" } });
    talk.say("two-ask", "two-answer");
    expect(gone(talk, { turn: 1 }, "led-by by-hand somebody", "two-ask two-answer")).toEqual([1, 2]);
  });

  test("of number 0 are the thread's beginning", () => {
    const talk = new CheckedTalk({}, { system: "be-brief", seed: [{ role: "user", content: "seed-said" }] });
    talk.say("one-ask", "one-answer");
    expect(gone(talk, { turn: 0 }, "be-brief seed-said", "one-ask one-answer")).toEqual([0]);
    expect(gone(talk, { message: "s1" }, "be-brief", "one-ask one-answer")).toEqual([0]);
    talk.tell({ type: "system.changed", system: "be-long" });
    expect(gone(talk, { message: "s2" }, "be-long", "be-brief seed-said")).toEqual([3]);
  });
});

test("in any journal, no word of a turn is left, and only content in the same entries goes, too", () => {
  fc.assert(
    fc.property(wordedMoves, fc.nat(), (moves, pick) => {
      const { entries, words } = wordedTalk(moves);
      const { length } = foldOf(entries).context.conversation.turns;
      const turn = pick % (length + 1);
      const seqs = right(entriesToRedact(entries, { turn }));
      const without = entries.map((entry) => (seqs.includes(entry.seq) ? redactEntry(entry) : entry));
      const texts = [JSON.stringify(without), JSON.stringify(foldOf(without))];
      for (const said of words.filter((word) => word.turn === turn))
        for (const text of texts) expect(text).not.toContain(said.word);
      const together = entries
        .map((entry) => JSON.stringify(entry))
        .filter((text) => words.some((said) => said.turn === turn && text.includes(said.word)));
      const others = words.filter(
        (said) => Math.abs(said.turn - turn) > 1 && !together.some((text) => text.includes(said.word)),
      );
      const summaries = /^t\/summary/;
      const told = entries.filter(({ event }) => !("effectId" in event && summaries.test(event.effectId)));
      for (const { word } of others) expect(texts[0]?.includes(word)).toBe(JSON.stringify(told).includes(word));
    }),
    { numRuns: runs(400) },
  );
});

describe("a summary", () => {
  const summarising: MachineOptions = { policy: summariseTurns() };

  test("of a turn goes with it, and is shown no more", () => {
    const talk = new CheckedTalk(conversationMachine(summarising));
    for (const turn of ["one", "two", "three"]) {
      talk.say(`${turn}-ask`, `${turn}-answer`);
      if (talk.isSummarising()) talk.summarise(`${turn}-told`);
    }
    const seqs = gone(talk, { turn: 2 }, "two-ask two-answer two-told three-told", "one-ask one-told three-ask");
    const without = talk.entries.map((entry) => (seqs.includes(entry.seq) ? redactEntry(entry) : entry));
    talk.tell({ type: "thread.redacted", seqs });
    const state = foldOf([...without, ...talk.entries.slice(-1)]);
    const summaries = toArray(state.context.conversation.turns).flatMap((turn) => turn.summaries ?? []);
    expect(summaries.filter(({ text }) => text === "[redacted]").length).toBeGreaterThan(0);
    for (const summary of summaries) expect(summary.stale === true).toBe(summary.text === "[redacted]");
  });
});

describe("a summary that was made from another summary", () => {
  /** Makes a policy that has each turn summarised, with the summary of the turn before it from a turn on. */
  const chained = (since: number): Policy => ({
    name: "chained",
    version: 1,
    options: { since },
    monotone: false,
    stable: false,
    decide: () => ({ from: null, reason: "all is shown" }),
    summariser: {
      instruction: "Sum up.",
      model: {},
      maxTokens: 100,
      waitMs: 1_000,
      next: ({ history }) => {
        const [newest] = [...history.newestFirst()];
        if (newest === undefined || newest.summaries.length > 0) return null;
        const { number } = newest;
        return {
          covers: { from: number, to: number },
          earlier: number < since ? null : { from: number - 1, to: number - 1 },
        };
      },
    },
  });

  const summarised = (policy: Policy): CheckedTalk => {
    const talk = new CheckedTalk(conversationMachine({ policy }));
    for (const turn of ["one", "two", "three"]) {
      talk.say(`${turn}-ask`, `${turn}-answer`);
      talk.summarise(`${turn}-told`);
    }
    return talk;
  };

  test("goes with the turn of that one", () => {
    const talk = summarised(chained(2));
    gone(talk, { turn: 1 }, "one-ask one-answer one-told two-told three-told", "two-ask three-ask three-answer");
    gone(talk, { turn: 3 }, "three-ask three-answer three-told", "one-told two-told");
  });

  test("stays if that one was not made from the redacted turn", () => {
    gone(summarised(chained(3)), { turn: 1 }, "one-ask one-answer one-told", "two-told three-told");
  });
});

describe("a missing target is refused with a reason", () => {
  const talk = new CheckedTalk();
  talk.say("one", "first");

  test.each<readonly [RedactionTarget, string]>([
    [{ turn: 2 }, "there is no turn 2; there are 1 to 1, and 0 for what it began with"],
    [{ turn: -1 }, "there is no turn -1; there are 1 to 1, and 0 for what it began with"],
    [{ message: "9.9" }, 'there is no message "9.9" in the journal'],
    [{ seqs: [] }, "no entry is named"],
    [{ seqs: [1, 3] }, "there is no entry 3; there are 0 to 2"],
  ])("%o", (target, reason) => {
    expect(entriesToRedact(talk.entries, target)).toEqual(Either.left(reason));
  });

  test("no target, which a caller without types may give", () => {
    const hint = "give { turn } (a number), { message } (an id) or { seqs } (numbers)";
    // The targets are missing on purpose.
    const [none, unknown] = [undefined, {}].map((target) => entriesToRedact(talk.entries, target as RedactionTarget));
    expect(none).toEqual(Either.left(`nothing names nothing to redact: ${hint}`));
    expect(unknown).toEqual(Either.left(`{} names nothing to redact: ${hint}`));
  });

  test.each([{ turn: "1" }, { message: 1 }, { seqs: "12" }, { seqs: ["1"] }, { turn: 0.5 }, null, "1"])(
    "%j, which a caller without types may give",
    (target) => {
      // The targets are invalid on purpose.
      const read = entriesToRedact(talk.entries, target as RedactionTarget);
      expect(Either.isLeft(read) && read.left).toContain("names nothing to redact: give { turn } (a number)");
    },
  );

  test("a turn, in a thread without one and in a thread with an open one", () => {
    const open = new CheckedTalk();
    const reasonOf = () => entriesToRedact(open.entries, { turn: 9 });
    expect(reasonOf()).toEqual(Either.left("there is no turn 9; there are none, and 0 for what it began with"));
    open.ask("one");
    expect(reasonOf()).toEqual(Either.left("there is no turn 9; there are 1 to 1, and 0 for what it began with"));
  });

  test("an empty journal", () => {
    expect(entriesToRedact([], { turn: 0 })).toEqual(Either.left("entry 0: the journal is empty"));
  });
});

test("redacted entries of a target are found again, since a copy may still have their words", () => {
  const talk = new CheckedTalk();
  talk.say("one", "first");
  const without = talk.entries.map(redactEntry);
  expect(right(entriesToRedact(without, { turn: 1 }))).toEqual(right(entriesToRedact(talk.entries, { turn: 1 })));
  expect(messagesOf(foldOf(without)).map(textOf)).toEqual(["[redacted]", "[redacted]"]);
});

describe("the entries of a turn, where several asks come in at once,", () => {
  test("are that of a cancel that took one ask out of it, with what had been shown of the reply that went on", () => {
    const talk = new CheckedTalk({ ...tools, overlap: { type: "merge", max: 5 } });
    talk.say("one-ask", "one-answer");
    talk.ask("two-ask", "b");
    talk.ask("three-ask", "c");
    talk.ask("four-ask", "d");
    talk.reply("two-answer");
    talk.fire("queue");
    const partial = { content: "shown-three" };
    talk.tell({ type: "cancel.requested", askId: "d", partial, reason: "because-four" });
    talk.reply("shown-three and more-three");
    gone(talk, { turn: 3 }, "three-ask four-ask shown-three because-four more-three", "two-ask two-answer");
    gone(talk, { message: "3.2" }, "shown-three more-three", "three-ask four-ask");
  });

  test("are that of an ask that waits, and brought along what had been shown", () => {
    const talk = new CheckedTalk(tools);
    talk.ask("one-ask", "a");
    talk.tell({ type: "ask.received", askId: "b", input: "two-ask", partial: { content: "shown-one" } });
    talk.reply("shown-one and more-one");
    talk.fire("queue");
    talk.reply("two-answer");
    gone(talk, { turn: 1 }, "one-ask shown-one more-one", "two-answer");
    gone(talk, { message: "1.1" }, "shown-one more-one", "one-ask two-answer");
  });

  test("are those of asks that came while it was open and that no turn answered, and why they were withdrawn", () => {
    const talk = new CheckedTalk({ ...tools, overlap: { type: "latest" } });
    talk.say("one-ask", "one-answer");
    talk.ask("two-ask", "b");
    talk.ask("superseded-ask", "c");
    talk.ask("withdrawn-ask", "d");
    talk.tell({ type: "cancel.requested", askId: "d", reason: "because-d" });
    talk.ask("answered-ask", "e");
    talk.reply("two-answer");
    talk.tell({ type: "ask.received", askId: "f", input: "late-ask" });
    talk.fire("queue");
    talk.reply("three-answer");
    const words = "two-ask superseded-ask withdrawn-ask because-d two-answer";
    gone(talk, { turn: 2 }, words, "one-ask one-answer three-answer late-ask");
    expect(right(entriesToRedact(talk.entries, { turn: 1 }))).toHaveLength(2);
  });

  test("are also that of an ask whose id, after 256 others, a later turn has again", () => {
    const talk = new CheckedTalk(tools);
    talk.ask("one-ask", "a");
    const withdrawn = (input: string, askId: string): void => {
      talk.ask(input, askId);
      talk.tell({ type: "cancel.requested", askId });
    };
    withdrawn("early-ask", "b");
    for (let count = 0; count < 256; count++) withdrawn("-", `other ${count}`);
    talk.reply("one-answer");
    talk.ask("two-ask", "c");
    withdrawn("late-ask", "b");
    talk.reply("two-answer");
    const [first, second] = [1, 2].map((turn) => right(entriesToRedact(talk.entries, { turn })));
    const asks = talk.entries.flatMap(({ seq, event }) => ("askId" in event && event.askId === "b" ? [seq] : []));
    const [early = -1, , late = -1] = asks;
    expect([first?.includes(early), first?.includes(late)]).toEqual([true, false]);
    expect([second?.includes(early), second?.includes(late)]).toEqual([false, true]);
  });

  test("the entries of a turn include asks that arrived while it was open and were withdrawn during a later turn", () => {
    const talk = new CheckedTalk(tools);
    talk.ask("one-ask", "a");
    talk.ask("two-ask", "b");
    talk.ask("withdrawn-ask", "c");
    talk.reply("one-answer");
    talk.fire("queue");
    talk.tell({ type: "cancel.requested", askId: "c", reason: "because-c" });
    talk.reply("two-answer");
    gone(talk, { turn: 1 }, "one-ask withdrawn-ask because-c one-answer", "two-ask two-answer");
  });
});
