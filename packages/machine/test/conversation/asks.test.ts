import { describe, expect, test } from "vitest";
import type { AskReceived } from "../../src/index.ts";
import { conversationMachine, lastTurnOf, messagesOf, textOf, turnsOf } from "../../src/index.ts";
import { redactedText } from "../../src/storage.ts";
import { Talk } from "../talk.ts";

const queueing = () => new Talk(conversationMachine({ overlap: { type: "queue", max: 3 } }));

describe("a repeated ask", () => {
  test("is refused, and names the turn that answers it: open, closed, and after the head moved away", () => {
    const talk = new Talk(conversationMachine());
    talk.ask("One", "a");
    expect(talk.refused({ type: "ask.received", askId: "a", input: "One" })).toMatchObject({ kind: "stale", turn: 1 });
    talk.reply("1");
    talk.ask("Two", "b");
    talk.tell({ type: "cancel.requested" });
    talk.tell({ type: "head.moved", to: 0 });
    for (const [askId, turn, input] of [
      ["a", 1, "One"],
      ["b", 2, "Two"],
    ] as const) {
      expect(talk.refused({ type: "ask.received", askId, input })).toMatchObject({ kind: "stale", turn });
    }
  });

  test("is recognised 256 turns back", () => {
    const talk = new Talk(conversationMachine());
    talk.ask("First", "a");
    talk.reply("1");
    for (let turn = 1; turn < 256; turn++)
      talk.tell({ type: "turn.added", messages: [{ role: "user", content: "?" }] });
    expect(talk.refused({ type: "ask.received", askId: "a", input: "First" })).toMatchObject({ turn: 1 });
  });

  test("that waits, or was withdrawn, is refused too", () => {
    const talk = queueing();
    talk.ask("One", "a");
    talk.ask("Two", "b");
    expect(talk.refused({ type: "ask.received", askId: "b", input: "Two" }).kind).toBe("stale");
    talk.tell({ type: "cancel.requested", askId: "b" });
    expect(talk.refused({ type: "ask.received", askId: "b", input: "Two" })).toMatchObject({
      kind: "stale",
      reason: expect.stringContaining("withdrawn"),
    });
  });
});

describe("a repeated ask that says something else", () => {
  const again = (input: AskReceived["input"], more: Partial<AskReceived> = {}): AskReceived => ({
    type: "ask.received",
    at: 99,
    askId: "a",
    input,
    ...more,
  });
  const another = { kind: "invalid", reason: expect.stringMatching(/^ask "a" was made before, and its input differs/) };

  test("is refused in words: of a turn that is open, and of one that is closed, also off the path", () => {
    const talk = new Talk(conversationMachine());
    talk.ask("One", "a");
    expect(talk.refused(again("Two"))).toEqual(another);
    expect(talk.refused(again("One", { name: "Ada" }))).toEqual(another);
    expect(talk.refused(again("One", { metadata: { from: "elsewhere" }, model: { temperature: 1 } })).kind).toBe(
      "stale",
    );
    talk.reply("Two");
    talk.tell({ type: "head.moved", to: 0 });
    expect(talk.refused(again("Two"))).toEqual(another);
    expect(talk.refused(again([{ type: "text", text: "One" }]))).toMatchObject({ kind: "stale", turn: 1 });
  });

  test("is refused of one that waits, that joins, or that shares a turn", () => {
    const merging = new Talk(conversationMachine({ overlap: { type: "merge", max: 3 } }));
    merging.ask("First", "first");
    merging.ask("One", "a");
    merging.ask("Other", "b");
    expect(merging.refused(again("Other"))).toEqual(another);
    merging.reply("!");
    merging.fire("queue");
    expect(merging.refused(again("One")).kind).toBe("stale");
    expect(merging.refused(again("Neither"))).toEqual(another);
    const steered = new Talk(conversationMachine({ overlap: { type: "steer", max: 3 } }));
    steered.ask("First", "first");
    steered.ask("One", "a");
    expect(steered.refused(again("Two"))).toEqual(another);
    steered.reply("!");
    expect(steered.refused(again("Two"))).toEqual(another);
    expect(steered.refused(again("One")).kind).toBe("stale");
  });

  test("of several messages is refused where one differs, or is missing", () => {
    const talk = new Talk(conversationMachine());
    const said = [
      { role: "user", content: "One" },
      { role: "user", content: [{ type: "data", field: "n", value: 1 }] },
    ] as const;
    talk.tell({ type: "message.appended", message: { role: "user", content: "before" } });
    talk.tell(again(said));
    talk.tell({ type: "message.appended", message: { role: "user", content: "after" } });
    expect(talk.refused(again(said)).kind).toBe("stale");
    expect(talk.refused(again(said.toReversed()))).toEqual(another);
    expect(talk.refused(again([...said, { role: "user", content: "more" }]))).toEqual(another);
  });

  test("is refused where it is a part of what was asked, nothing, more than it, or what a model said", () => {
    const one = { role: "user", content: "One" } as const;
    const two = { role: "user", content: "Two" } as const;
    const three = { role: "user", content: "Three" } as const;
    const talk = new Talk(conversationMachine());
    talk.tell(again([one, two, three]));
    const whileOpenAndAfter = (): void => {
      expect(talk.refused(again([one, two, three])).kind).toBe("stale");
      for (const input of ["One", [two], [one, two], [two, three], [one, three], []])
        expect(talk.refused(again(input))).toEqual(another);
    };
    whileOpenAndAfter();
    talk.reply("Four");
    whileOpenAndAfter();
    expect(talk.refused(again([{ role: "assistant", content: "Four" }]))).toEqual(another);
    const single = new Talk(conversationMachine());
    single.ask("One", "a");
    single.reply("Two");
    expect(single.refused(again([{ role: "assistant", content: "Two" }]))).toEqual(another);
    expect(single.refused(again([]))).toEqual(another);
    expect(single.refused(again("One")).kind).toBe("stale");
  });

  test("asks of nothing are repeated by nothing", () => {
    const talk = new Talk(conversationMachine());
    talk.tell({ type: "message.appended", message: { role: "user", content: "One" } });
    talk.tell(again([]));
    talk.reply("Two");
    expect(talk.refused(again([])).kind).toBe("stale");
    expect(talk.refused(again("One"))).toEqual(another);
  });

  test("of several asks in one turn each is repeated by its own messages alone", () => {
    const merging = new Talk(conversationMachine({ overlap: { type: "merge", max: 3 } }));
    merging.ask("First", "first");
    merging.ask("One", "a");
    merging.tell(
      again(
        [
          { role: "user", content: "Two" },
          { role: "user", content: "Three" },
        ],
        { askId: "b" },
      ),
    );
    merging.reply("!");
    merging.fire("queue");
    const eachOfThem = (): void => {
      for (const input of [
        "Two",
        "Three",
        [
          { role: "user", content: "One" },
          { role: "user", content: "Two" },
        ],
      ] as const)
        expect(merging.refused(again(input))).toEqual(another);
      expect(merging.refused(again("One"))).toMatchObject({ kind: "stale", turn: 2 });
      expect(merging.refused(again("Three", { askId: "b" })).kind).toBe("invalid");
      const both = [
        { role: "user", content: "Two" },
        { role: "user", content: "Three" },
      ] as const;
      expect(merging.refused(again(both, { askId: "b" }))).toMatchObject({ kind: "stale", turn: 2 });
    };
    eachOfThem();
    merging.reply("!");
    eachOfThem();
  });

  test("is taken for the same where that is not known: it was withdrawn, forgotten, or its words were taken out", () => {
    const talk = queueing();
    talk.ask("First", "first");
    talk.ask("One", "a");
    talk.tell({ type: "cancel.requested", askId: "a" });
    expect(talk.refused(again("Two"))).toMatchObject({ kind: "stale", reason: expect.stringContaining("withdrawn") });
    const redacted = new Talk(conversationMachine());
    redacted.ask(redactedText, "a");
    redacted.reply("1");
    expect(redacted.refused(again("Two"))).toMatchObject({ kind: "stale", turn: 1 });
  });
});

describe("asks that wait", () => {
  test("are answered in their order, each in a turn of its own", () => {
    const talk = queueing();
    talk.ask("1", "a");
    for (const [askId, input] of [
      ["b", "2"],
      ["c", "3"],
      ["d", "4"],
    ] as const)
      talk.ask(input, askId);
    expect(talk.refused({ type: "ask.received", askId: "e", input: "5" }).kind).toBe("full");
    for (let waiting = 3; waiting > 0; waiting--) {
      expect(talk.state.context.queue).toHaveLength(waiting);
      talk.reply("!");
      talk.fire("queue");
    }
    talk.reply("!");
    expect(turnsOf(talk.state).map(({ asks }) => asks.map(({ askId }) => askId))).toEqual([["a"], ["b"], ["c"], ["d"]]);
    expect(
      messagesOf(talk.state)
        .map(textOf)
        .filter((text) => text !== "!"),
    ).toEqual(["1", "2", "3", "4"]);
    expect(talk.out()).toEqual([]);
  });

  test("wait for each other where limits forbid every call", () => {
    const talk = queueing();
    talk.ask("1", "a");
    for (const askId of ["b", "c"]) talk.tell({ type: "ask.received", askId, input: "?", limits: { steps: 0 } });
    talk.reply("!");
    talk.fire("queue");
    talk.fire("queue");
    expect(turnsOf(talk.state).map(({ outcome }) => outcome.status)).toEqual(["completed", "failed", "failed"]);
    expect(talk.out()).toEqual([]);
  });

  test("the last to be withdrawn takes its timer with it", () => {
    const talk = queueing();
    talk.ask("1", "a");
    talk.ask("2", "b");
    talk.reply("!");
    expect(talk.out()).toMatchObject([{ type: "startTimer", purpose: "queue" }]);
    talk.tell({ type: "cancel.requested", askId: "b" });
    expect(talk.effects.map(({ type }) => type)).toEqual(["cancelTimer", "publish"]);
    expect(talk.out()).toEqual([]);
  });

  test("a queue of 0 holds no ask", () => {
    const talk = new Talk(conversationMachine({ overlap: { type: "queue", max: 0 } }));
    talk.ask("1");
    expect(talk.refused({ type: "ask.received", askId: "b", input: "2" }).kind).toBe("full");
  });
});

describe("the model parameters of a call", () => {
  test("are the ask's over the thread's over the configuration's, member by member", () => {
    const machine = conversationMachine({ model: { name: "small", temperature: 1, seed: 1 } });
    const talk = new Talk(machine, { model: { temperature: 0, top: 5 } });
    talk.tell({ type: "ask.received", askId: "a", input: "?", model: { name: "large" } });
    expect(talk.call().model).toEqual({ name: "large", temperature: 0, seed: 1, top: 5 });
    talk.reply("!");
    talk.ask("And?");
    expect(talk.call().model).toEqual({ name: "small", temperature: 0, seed: 1, top: 5 });
  });
});

test("a part that has a role, too, is a part", () => {
  const talk = new Talk(conversationMachine());
  // As programs in plain JavaScript may write it.
  const part = { type: "text", text: "Hello", role: "assistant" } as const;
  talk.tell({ type: "ask.received", askId: "a", input: [part] });
  expect(messagesOf(talk.state).map((message) => [message.role, textOf(message)])).toEqual([["user", "Hello"]]);
});

describe("what a turn is about", () => {
  test("messages, parts and metadata of the ask stand where they belong", () => {
    const talk = new Talk(conversationMachine());
    talk.tell({
      type: "ask.received",
      askId: "a",
      input: [{ type: "data", field: "question", value: { n: 1 } }],
      name: "Ada",
      metadata: { from: "web" },
    });
    expect(talk.call().messages).toMatchObject([
      { role: "user", name: "Ada", metadata: { from: "web" }, parts: [{ field: "question" }] },
    ]);
    talk.reply("!");
    const drafts = [
      { role: "system", content: "Now French." },
      { role: "user", content: "Oui?" },
    ] as const;
    talk.tell({ type: "ask.received", askId: "b", input: drafts, metadata: { from: "app" } });
    talk.reply("Oui.");
    expect(
      messagesOf(talk.state)
        .slice(2)
        .map(({ role }) => role),
    ).toEqual(["system", "user", "assistant"]);
    expect(lastTurnOf(talk.state)?.metadata).toEqual({ from: "app" });
  });
});
