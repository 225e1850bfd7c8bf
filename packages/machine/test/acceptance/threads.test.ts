import { fromChatMessages } from "@colloquy/interchange";
import { describe, expect, test } from "vitest";
import * as Either from "fp-ts/lib/Either.js";
import { conversationMachine, lastTurnOf, messagesOf, phaseOf, textOf, turnsOf } from "../../src/index.ts";
import { calling, Talk } from "../talk.ts";

// Repeats the behaviour of the five systems with threads, queues, steering and checkpoints, from their own tests and
// from runs. If this machine answers otherwise, the test's name says so.

const texts = (talk: Talk): readonly string[] => messagesOf(talk.state).map((message) => textOf(message));
const sent = (talk: Talk): readonly string[] =>
  talk.call().messages.map((message) => `${message.role} ${textOf(message)}`);

describe("Jido's threads", () => {
  const machine = conversationMachine({ tools: [{ name: "search" }], overlap: { type: "steer", max: 2 } });

  test("26: after a reset to another prompt and another first message, the model sees only those", () => {
    const talk = new Talk(conversationMachine(), { system: "First prompt" });
    for (const number of [1, 2]) {
      talk.ask(`Q${number}`);
      talk.reply(`A${number}`);
    }
    talk.tell({ type: "head.moved", to: 0 });
    talk.tell({ type: "system.changed", system: "Reset prompt" });
    talk.tell({ type: "message.appended", message: { role: "user", content: "Reset seed" } });
    talk.ask("Q3");
    expect(sent(talk)).toEqual(["system Reset prompt", "user Reset seed", "user Q3"]);
    // Nothing was removed.
    expect(talk.state.context.conversation.turns.length).toBe(2);
  });

  test("28: a reset while a turn is open is refused as busy, with the way out (theirs waits, and the latest wins)", () => {
    const talk = new Talk(machine);
    talk.ask("Q1");
    expect(talk.refused({ type: "head.moved", to: 0 })).toMatchObject({ kind: "busy" });
  });

  test("29: two branches keep their own messages, however often the head moves between them", () => {
    const talk = new Talk(conversationMachine());
    talk.ask("alpha 1");
    talk.reply("a");
    talk.tell({ type: "checkpoint.named", name: "alpha" });
    talk.tell({ type: "head.moved", to: 0 });
    talk.ask("beta 1");
    talk.reply("b");
    talk.tell({ type: "checkpoint.named", name: "beta" });
    talk.tell({ type: "head.moved", to: { checkpoint: "alpha" } });
    expect(texts(talk)).toEqual(["alpha 1", "a"]);
    talk.tell({ type: "head.moved", to: { checkpoint: "beta" } });
    expect(texts(talk)).toEqual(["beta 1", "b"]);
  });

  test("30: what is steered in during the first call stands in the second, and its answer is the turn's", () => {
    const talk = new Talk(machine);
    talk.ask("Q1", "one");
    talk.ask("Q2", "two");
    talk.reply("A1", { usage: { inputTokens: 3, outputTokens: 2 } });
    expect(sent(talk)).toEqual(["user Q1", "assistant A1", "user Q2"]);
    talk.reply("A2", { usage: { inputTokens: 4, outputTokens: 2 } });
    const turn = lastTurnOf(talk.state);
    expect(turn).toMatchObject({
      asks: [{ askId: "one" }, { askId: "two" }],
      usage: { inputTokens: { sum: 7 }, outputTokens: { sum: 4 } },
    });
    expect(texts(talk).at(-1)).toBe("A2");
  });

  test("31: nothing to join, another ask than is open, nothing to say: each is refused with its reason", () => {
    const talk = new Talk(machine);
    const joining = { type: "ask.received", askId: "late", input: "Q2", joins: {} } as const;
    expect(talk.refused(joining)).toMatchObject({ kind: "stale", reason: expect.stringMatching(/no turn is open/) });
    talk.ask("Q1", "one");
    expect(talk.refused({ ...joining, joins: { askId: "another" } }).reason).toMatch(/does not answer ask "another"/);
    expect(talk.refused({ ...joining, input: "   " })).toMatchObject({ kind: "invalid" });
    expect(talk.tell({ ...joining, joins: { askId: "one" } }).entry.decided).toEqual({ joins: true });
  });

  test("32: two may wait to join, the third is refused as full, and their order is kept", () => {
    const talk = new Talk(machine);
    talk.ask("Q1");
    talk.ask("Q2");
    talk.ask("Q3");
    expect(talk.refused({ type: "ask.received", askId: "4", input: "Q4" })).toMatchObject({ kind: "full" });
    talk.reply(calling("search"));
    talk.result(0, "found");
    expect(sent(talk).slice(-2)).toEqual(["user Q2", "user Q3"]);
  });

  test("32: once a turn has ended nothing joins it any more", () => {
    const talk = new Talk(machine);
    talk.ask("Q1", "one");
    talk.reply("A1");
    const late = talk.refused({ type: "ask.received", askId: "two", input: "Q2", joins: { askId: "one" } });
    expect(late).toMatchObject({ kind: "stale" });
  });

  test("33: what was steered in and never shown is not in the history of a turn that failed (and is given back)", () => {
    const talk = new Talk(machine);
    talk.ask("Q1", "one");
    talk.ask("Q2", "two");
    talk.fail();
    expect(texts(talk)).toEqual(["Q1"]);
    expect(talk.effects).toContainEqual({ type: "publish", signal: { type: "ask.returned", askId: "two", turn: 1 } });
    expect(talk.state.context.dropped).toMatchObject([{ askId: "two", because: "returned" }]);
  });

  test("39: a turn that completed stays so, whatever fails later", () => {
    const talk = new Talk(machine);
    talk.ask("Q1", "one");
    const { id } = talk.call();
    talk.reply("A1");
    const failure = { kind: "network", message: "gone", retryable: false } as const;
    expect(talk.refused({ type: "llm.failed", effectId: id, failure })).toMatchObject({ kind: "stale" });
    expect(talk.refused({ type: "cancel.requested", askId: "one" })).toMatchObject({ kind: "stale" });
    expect(lastTurnOf(talk.state)?.outcome).toMatchObject({ status: "completed" });
  });

  test("44: put down with a tool asked for and taken up again, the tool is what is outstanding, not the model", () => {
    const talk = new Talk(machine);
    talk.ask("Q1");
    talk.reply(calling("search"));
    talk.state = JSON.parse(JSON.stringify(talk.state)) as typeof talk.state;
    expect(talk.out()).toMatchObject([{ type: "callTool", name: "search" }]);
    talk.result(0, "found");
    expect(talk.call().step).toBe(2);
  });
});

describe("ConversationalAgent's checkpoints", () => {
  const named = (talk: Talk, name: string) => talk.tell({ type: "checkpoint.named", name });

  test("51: restored to the first turn the history has one, and what comes later leaves the checkpoint as it is", () => {
    const talk = new Talk(conversationMachine());
    talk.ask("Q1");
    talk.reply("A1");
    named(talk, "cp1");
    talk.ask("Q2");
    talk.reply("A2");
    named(talk, "cp2");
    talk.tell({ type: "head.moved", to: { checkpoint: "cp1" } });
    expect(turnsOf(talk.state)).toHaveLength(1);
    talk.ask("Q3");
    talk.reply("A3");
    expect(talk.state.context.conversation.checkpoints).toEqual({ cp1: 1, cp2: 2 });
  });

  test("52: an unknown name is refused with the names that there are", () => {
    const talk = new Talk(conversationMachine());
    named(talk, "cp1");
    const refusal = talk.refused({ type: "head.moved", to: { checkpoint: "nonexistent" } });
    expect(refusal).toMatchObject({ kind: "unknown", reason: expect.stringMatching(/"nonexistent"; there are: cp1/) });
  });
});

describe("the messages of OpenSearch and LangChain", () => {
  const appended = (...said: readonly string[]): readonly string[] => {
    const talk = new Talk(conversationMachine());
    for (const one of said) {
      const role = one.startsWith("H") ? "user" : one.startsWith("A") ? "assistant" : "system";
      talk.tell({ type: "message.appended", message: { role, content: one } });
    }
    return talk.state.context.conversation.appended.map((message) => textOf(message));
  };

  test.each([
    ["59", ["H1", "H2", "A1"]],
    ["60", ["A1", "H1"]],
    ["60", ["S", "H1", "A1"]],
    ["60", ["H1", "A1", "H2"]],
  ])("%s: %j is read back as it was written (theirs pairs, and so inverts and makes up messages)", (_, said) => {
    expect(appended(...said)).toEqual(said);
  });

  const turnsIn = (...roles: readonly string[]): readonly (readonly string[])[] => {
    const read = fromChatMessages(roles.map((role, index) => ({ role, content: `${role} ${index}` })));
    if (Either.isLeft(read)) throw new Error(read.left.reason);
    return read.right.turns.map((turn) => turn.map(({ role }) => role));
  };
  const pair = ["user", "assistant"];

  test.each([
    ["one pair", [...pair], [pair]],
    ["two pairs, in their order", [...pair, ...pair], [pair, pair]],
    ["a pair and a question without an answer, which stays (theirs skips it)", [...pair, "user"], [pair, ["user"]]],
    ["only a question, which stays", ["user"], [["user"]]],
    ["a system prompt, which is the thread's and in no turn", ["system", ...pair], [pair]],
    ["nothing", [], []],
  ])("61: messages from elsewhere are turns: %s", (_, roles, turns) => {
    expect(turnsIn(...roles)).toEqual(turns);
  });

  test("61: null among the messages is refused by its place (theirs skips it)", () => {
    expect(fromChatMessages([{ role: "user", content: "Q" }, null])).toMatchObject({ left: { index: 1 } });
  });

  test("67: what says nothing at all is refused, with the reason", () => {
    const talk = new Talk(conversationMachine());
    for (const input of ["", []]) {
      const refusal = talk.refused({ type: "ask.received", askId: "a", input });
      expect(refusal).toMatchObject({ kind: "invalid", reason: expect.stringMatching(/nothing to send/) });
    }
    const added = talk.refused({ type: "turn.added", messages: [] });
    expect(added).toMatchObject({ kind: "invalid", reason: expect.stringMatching(/needs messages/) });
  });

  test("62: after clearing, the next ask goes on in the same thread, from its beginning (theirs writes to what is deleted)", () => {
    const talk = new Talk(conversationMachine());
    talk.ask("H1");
    talk.reply("A1");
    talk.tell({ type: "head.moved", to: 0 });
    talk.ask("H2");
    expect(sent(talk)).toEqual(["user H2"]);
  });
});

describe("retico's system prompt", () => {
  test("81: changed to B and reset it is A again", () => {
    const talk = new Talk(conversationMachine(), { system: "A" });
    talk.tell({ type: "system.changed", system: "B" });
    talk.tell({ type: "system.reset" });
    talk.ask("Hello");
    expect(sent(talk)).toEqual(["system A", "user Hello"]);
  });
});

describe("dspy-session's turns", () => {
  const answered = (count: number): Talk => {
    const talk = new Talk(conversationMachine());
    for (let number = 0; number < count; number++) {
      talk.ask(`Q${number}`);
      talk.reply("A");
    }
    return talk;
  };

  test("85: the second question is asked with the first and its answer, and three asks are three turns", () => {
    const talk = answered(2);
    talk.ask("Q2");
    expect(sent(talk)).toEqual(["user Q0", "assistant A", "user Q1", "assistant A", "user Q2"]);
    talk.reply("A");
    expect(turnsOf(talk.state)).toHaveLength(3);
  });

  test("88: turns keep their numbers (theirs repeat one from the third on)", () => {
    expect(turnsOf(answered(8).state).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  test("90: a turn that was added by hand stands in the next prompt", () => {
    const talk = answered(1);
    talk.tell({
      type: "turn.added",
      messages: [
        { role: "user", content: "by hand" },
        { role: "assistant", content: "noted" },
      ],
    });
    talk.ask("Q1");
    expect(sent(talk)).toEqual(["user Q0", "assistant A", "user by hand", "assistant noted", "user Q1"]);
  });

  test("101: changing what was handed in or out changes no turn", () => {
    const talk = new Talk(conversationMachine());
    const input = [{ role: "user" as const, content: "as it was" }];
    const before = JSON.stringify(talk.tell({ type: "ask.received", askId: "a", input }).entry);
    const message = input[0];
    if (message !== undefined) message.content = "changed";
    talk.reply("A");
    expect(texts(talk)[0]).toBe("as it was");
    expect(before).toContain("as it was");
  });
});

test("12: an ask while a turn is open is refused as busy, and changes nothing", () => {
  const talk = new Talk(conversationMachine());
  talk.ask("Hello");
  const refusal = talk.refused({ type: "ask.received", askId: "call_456", input: "Again" });
  expect(refusal).toMatchObject({ kind: "busy", reason: expect.stringMatching(/turn 1 is open/) });
  expect(phaseOf(talk.state)).toBe("awaiting_llm");
});
