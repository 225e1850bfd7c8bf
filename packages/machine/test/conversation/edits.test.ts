import { describe, expect, test } from "vitest";
import { conversationMachine, lastTurnOf, messagesOf, textOf, turnNumbered, turnsOf } from "../../src/index.ts";
import { configurationOfMachine } from "../../src/hosting.ts";
import { lastTurns } from "../../src/policies.ts";
import { Talk } from "../talk.ts";

const talking = (...texts: readonly string[]): Talk => {
  const talk = new Talk(conversationMachine());
  for (const text of texts) {
    talk.ask(text);
    talk.reply(`${text}!`);
  }
  return talk;
};

const append = (talk: Talk, content: string) =>
  talk.tell({ type: "message.appended", message: { role: "user", content } });
const numbers = (talk: Talk): readonly number[] => turnsOf(talk.state).map(({ number }) => number);

describe("moving the head", () => {
  test("loses no turn, and never uses a number again", () => {
    const talk = talking("1", "2");
    talk.tell({ type: "head.moved", to: 0 });
    expect(messagesOf(talk.state)).toEqual([]);
    talk.ask("3");
    talk.reply("3!");
    expect(numbers(talk)).toEqual([3]);
    expect(lastTurnOf(talk.state)?.parent).toBe(0);
    talk.tell({ type: "head.moved", to: 2 });
    expect(numbers(talk)).toEqual([1, 2]);
  });

  test("leaves what was appended where it was said: in a turn of its own", () => {
    const talk = talking("1");
    append(talk, "between");
    talk.tell({ type: "head.moved", to: 1 });
    expect(messagesOf(talk.state).map(textOf)).toEqual(["1", "1!"]);
    talk.tell({ type: "head.moved", to: 2 });
    expect(messagesOf(talk.state).map(textOf)).toEqual(["1", "1!", "between"]);
    talk.ask("3");
    expect(talk.call().messages.map(textOf)).toEqual(["1", "1!", "between", "3"]);
  });

  test("to a checkpoint goes where that was named, or named last", () => {
    const talk = talking("1");
    append(talk, "between");
    talk.tell({ type: "checkpoint.named", name: "here" });
    expect(numbers(talk)).toEqual([1, 2]);
    talk.ask("3");
    talk.reply("3!");
    talk.tell({ type: "head.moved", to: { checkpoint: "here" } });
    expect(numbers(talk)).toEqual([1, 2]);
    talk.tell({ type: "head.moved", to: 3 });
    talk.tell({ type: "checkpoint.named", name: "here" });
    talk.tell({ type: "head.moved", to: 0 });
    talk.tell({ type: "head.moved", to: { checkpoint: "here" } });
    expect(numbers(talk)).toEqual([1, 2, 3]);
  });

  test("leaves totals as they are", () => {
    const talk = talking("1");
    const { usage } = talk.state.context;
    talk.tell({ type: "head.moved", to: 0 });
    expect(talk.state.context.usage).toBe(usage);
  });
});

describe("a turn that is added by hand", () => {
  test("is led by what was appended, and all its messages have ids of their own", () => {
    const talk = talking("1");
    append(talk, "before");
    talk.tell({
      type: "turn.added",
      metadata: { by: "hand" },
      messages: [
        { role: "user", content: "2" },
        { role: "assistant", toolCalls: [{ id: null, name: "search", arguments: "{}" }] },
        { role: "tool", toolCallId: null, content: "found" },
        { role: "assistant", content: "2!" },
      ],
    });
    expect(messagesOf(talk.state).map(({ id }) => id)).toEqual(["1.0", "1.1", "2.0", "2.1", "2.2", "2.2.0", "2.4"]);
    expect(lastTurnOf(talk.state)).toMatchObject({
      number: 2,
      parent: 1,
      metadata: { by: "hand" },
      answer: "2.4",
      usage: { calls: 0 },
    });
    expect(talk.state.context.conversation.appended).toEqual([]);
  });

  test("that is no conversation is refused, and says where", () => {
    const refusal = talking("1").refused({
      type: "turn.added",
      messages: [{ role: "tool", toolCallId: "x", content: "" }],
    });
    expect(refusal).toMatchObject({ kind: "invalid", reason: expect.stringContaining('call "x"') });
  });
});

describe("what is said about a turn", () => {
  test("adds up, on the path and off it, and while another turn is open", () => {
    const talk = talking("1", "2");
    talk.tell({ type: "head.moved", to: 2 });
    talk.tell({ type: "turn.annotated", turn: 1, name: "score", value: 0.5 });
    talk.tell({ type: "head.moved", to: 0 });
    talk.ask("3");
    talk.tell({ type: "turn.annotated", turn: 1, name: "score", value: 1, metadata: { by: "Ada" } });
    expect(turnNumbered(talk.state, 1)?.annotations).toMatchObject([
      { name: "score", value: 0.5 },
      { name: "score", value: 1, metadata: { by: "Ada" } },
    ]);
    expect(talk.refused({ type: "turn.annotated", turn: 3, name: "score", value: 0 }).kind).toBe("unknown");
  });
});

describe("an answer that is truncated", () => {
  test("remembers how long it was, however often it is cut, and is cut nowhere but in its text", () => {
    const talk = new Talk(conversationMachine());
    talk.ask("Hello");
    talk.reply({
      content: [
        { type: "reasoning", text: "I greet." },
        { type: "text", text: "Good " },
        { type: "text", text: "morning" },
      ],
    });
    const digest = messagesOf(talk.state).at(-1)?.digest;
    for (const characters of [8, 4]) talk.tell({ type: "answer.truncated", turn: 1, characters });
    const answer = messagesOf(talk.state).at(-1);
    expect(answer).toMatchObject({
      truncated: { characters: 12 },
      parts: [{ type: "reasoning" }, { type: "text", text: "Good" }],
    });
    expect(answer?.digest).not.toBe(digest);
  });

  test("is the turn's last, and no other message", () => {
    const talk = new Talk(conversationMachine());
    talk.ask("Hello");
    talk.tell({ type: "cancel.requested" });
    expect(talk.refused({ type: "answer.truncated", turn: 1, characters: 1 }).kind).toBe("invalid");
  });
});

describe("edits", () => {
  const edits = [
    { type: "head.moved", to: 0 },
    { type: "checkpoint.named", name: "here" },
    { type: "turn.added", messages: [{ role: "user", content: "?" }] },
    { type: "answer.truncated", turn: 1, characters: 0 },
  ] as const;

  test.each(edits)("are refused while a turn is open or about to be: $type", (edit) => {
    const talk = new Talk(conversationMachine({ overlap: { type: "queue", max: 1 } }));
    talk.ask("1");
    expect(talk.refused(edit).kind).toBe("busy");
    talk.ask("2");
    talk.reply("1!");
    expect(talk.refused(edit)).toMatchObject({ kind: "busy", reason: expect.stringContaining("turn 2") });
    talk.fire("queue");
    talk.reply("2!");
    talk.tell(edit);
  });

  test.each([
    [{ type: "checkpoint.named", name: "" }, "a checkpoint needs a name"],
    [{ type: "turn.added", messages: [] }, "a turn needs messages"],
  ] as const)("that can't be meant are refused: %j", (edit, reason) => {
    expect(talking("1").refused(edit)).toMatchObject({ kind: "invalid", reason: expect.stringContaining(reason) });
  });

  test("leave what the thread was begun with", () => {
    const talk = new Talk(conversationMachine(), { metadata: { title: "Poems" }, at: 7 });
    talk.tell(edits[2]);
    talk.tell(edits[0]);
    expect(talk.state.context).toMatchObject({ metadata: { title: "Poems" }, createdAt: 7, threadId: "t" });
  });
});

describe("another configuration", () => {
  test("counts from the next decision on: parameters, silence, policy", () => {
    const talk = talking("1", "2");
    const next = conversationMachine({ model: { name: "large" }, idleTimeoutMs: 5_000, policy: lastTurns(0) });
    const going = new Talk(next);
    going.state = talk.state;
    going.now = talk.now;
    going.tell({ type: "thread.configured", configuration: configurationOfMachine(next), model: { top: 1 } });
    going.ask("3");
    expect(going.call()).toMatchObject({ model: { name: "large", top: 1 }, idleTimeoutMs: 5_000 });
    expect(going.call().messages.map(textOf)).toEqual(["3"]);
  });
});
