import { describe, expect, test } from "vitest";
import { conversationMachine, type ConversationMachine } from "../../src/index.ts";
import { Talk } from "../talk.ts";

const asking = (talk: Talk, askId: string, input: string | [] = []) =>
  talk.tell({ type: "ask.received", askId, input });

/** A thread whose one ask says nothing: the system message is all that its call shows. */
const openedByNothing = (machine: ConversationMachine = conversationMachine()): Talk => {
  const talk = new Talk(machine, { system: "Greet." });
  asking(talk, "a");
  expect(talk.call().messages.map(({ role }) => role)).toEqual(["system"]);
  return talk;
};

const busy = { kind: "busy", reason: expect.stringContaining("there is nothing to send in turn") };

describe("a system message that is all there is to send", () => {
  test("stays while its turn is open, which may have to be tried again", () => {
    const talk = openedByNothing();
    expect(talk.refused({ type: "system.changed", system: null })).toEqual(busy);
    talk.tell({ type: "system.changed", system: "Greet in French." });
    talk.fail({ retryable: true });
    talk.fire("retry");
    expect(talk.call().messages).toMatchObject([{ parts: [{ text: "Greet in French." }] }]);
  });

  test("stays where the thread began with none, and is asked to begin so again", () => {
    const talk = new Talk(conversationMachine());
    talk.tell({ type: "system.changed", system: "Greet." });
    asking(talk, "a");
    expect(talk.refused({ type: "system.reset" })).toEqual(busy);
  });

  test("stays while the ask that comes next says nothing", () => {
    const talk = openedByNothing(conversationMachine({ overlap: { type: "queue", max: 2 } }));
    asking(talk, "b");
    asking(talk, "c", "Hello");
    talk.tell({ type: "cancel.requested" });
    expect(talk.refused({ type: "system.changed", system: null })).toEqual(busy);
    talk.tell({ type: "cancel.requested", askId: "b" });
    talk.tell({ type: "system.changed", system: null });
    talk.fire("queue");
    expect(talk.call().messages.map(({ role }) => role)).toEqual(["user"]);
  });

  test("stays whatever joined the turn or waits behind it, which may be withdrawn", () => {
    const talk = openedByNothing();
    talk.tell({ type: "ask.received", askId: "b", input: "Hello", overlap: "steer" });
    expect(talk.refused({ type: "system.changed", system: null })).toEqual(busy);
    talk.tell({ type: "ask.received", askId: "c", input: "Hello", overlap: "queue" });
    talk.tell({ type: "ask.received", askId: "d", input: [], overlap: "queue" });
    talk.tell({ type: "cancel.requested" });
    expect(talk.refused({ type: "system.changed", system: null })).toEqual(busy);
  });

  test("stays while the answer of the turn may prove to be none", () => {
    const talk = new Talk(conversationMachine(), { system: "Greet." });
    const output = { name: "greeting", schema: {}, mode: "native", repairs: 0 } as const;
    talk.tell({ type: "ask.received", askId: "a", input: [], output });
    talk.reply("Good day.");
    expect(talk.refused({ type: "system.changed", system: null })).toEqual(busy);
    talk.tell({ type: "cancel.requested" });
    talk.tell({ type: "ask.received", askId: "b", input: "Hello", output });
    talk.tell({ type: "system.changed", system: null });
  });

  test("goes where the turn says something: an ask of its own, what was appended, an answer", () => {
    const asked = new Talk(conversationMachine(), { system: "Greet." });
    asking(asked, "a", "Hello");
    asked.tell({ type: "system.changed", system: null });
    const appended = openedByNothing();
    appended.tell({ type: "message.appended", message: { role: "user", content: "Hello" } });
    appended.tell({ type: "system.changed", system: null });
    const answered = openedByNothing();
    answered.reply("Good day.");
    answered.tell({ type: "system.changed", system: null });
    asking(answered, "b");
    expect(answered.call().messages.map(({ role }) => role)).toEqual(["assistant"]);
  });
});

test("an ask that says nothing is refused in a thread of which only turns without a message are left", () => {
  const talk = openedByNothing();
  talk.tell({ type: "cancel.requested" });
  talk.tell({ type: "system.changed", system: null });
  expect(talk.refused({ type: "ask.received", askId: "b", input: [] })).toMatchObject({
    kind: "invalid",
    reason: expect.stringContaining("there is nothing to send"),
  });
});
