import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { type Entry, messagesOf, type State, textOf } from "../../src/index.ts";
import { replay } from "../../src/inspect.ts";
import { fold, type ForkedJournal, forkOf } from "../../src/journal.ts";
import { CheckedTalk } from "../checked-talk.ts";

const right = <Value>(either: Either.Either<unknown, Value>): Value => {
  if (Either.isLeft(either)) throw new Error(JSON.stringify(either.left));
  return either.right;
};
const forked = (entries: readonly Entry[], turn?: number): ForkedJournal =>
  right(forkOf(entries, { threadId: "copy", at: 1_000, ...(turn === undefined ? {} : { turn }) }));
const foldOf = (entries: readonly Entry[]): State => right(fold(entries));
/** Led by the system prompt. */
const wholeTextsOf = (state: State): readonly string[] => {
  const { system } = state.context.conversation;
  return [...(system === null ? [] : [textOf(system)]), ...messagesOf(state).map(textOf)];
};

describe("of what came since, a copy", () => {
  test("at the head has all: it is the thread as it is", () => {
    const talk = new CheckedTalk({}, { system: "A" });
    talk.say("one", "first");
    talk.say("two", "second");
    talk.tell({ type: "head.moved", to: 1 });
    talk.tell({ type: "checkpoint.named", name: "undone to" });
    talk.tell({ type: "system.changed", system: "B" });
    talk.tell({ type: "message.pinned", message: "1.0", pinned: true });
    talk.tell({ type: "message.appended", message: { role: "user", content: "by the way" } });
    talk.tell({ type: "message.pinned", message: "3.0", pinned: true });
    talk.tell({ type: "thread.configured", configuration: { fingerprint: "other" }, model: { temperature: 0 } });
    const copy = forked(talk.entries);
    expect(copy.left).toEqual({ effects: [], asks: [], entries: [] });
    const { context } = right(replay(talk.machine, copy.entries));
    const thread = talk.state.context;
    expect(wholeTextsOf(foldOf(copy.entries))).toEqual(["B", "one", "first", "by the way"]);
    expect(context.conversation).toMatchObject({ head: 1, checkpoints: { "undone to": 1 }, systems: 2 });
    expect(context.conversation.firstSystem).toEqual(thread.conversation.firstSystem);
    // The message that waits leads the copy's next turn, which is its second.
    expect(context.conversation.pins).toEqual([
      { turn: 1, message: "1.0" },
      { turn: 2, message: "2.0" },
    ]);
    expect(context.conversation.appended).toMatchObject([{ id: "2.0" }]);
    expect([context.configuration, context.model]).toEqual([thread.configuration, thread.model]);
    talk.tell({ type: "system.reset" });
    expect(wholeTextsOf(foldOf(forked(talk.entries).entries))).toEqual(["A", "one", "first", "by the way"]);
  });

  test("of an older turn has the names and pins of its own turns, and says what is left", () => {
    const talk = new CheckedTalk({}, { system: "A" });
    talk.say("one", "first");
    talk.say("two", "second");
    talk.tell({ type: "head.moved", to: 1 });
    talk.tell({ type: "checkpoint.named", name: "one" });
    talk.say("three", "third");
    talk.tell({ type: "checkpoint.named", name: "three" });
    talk.tell({ type: "message.pinned", message: "1.0", pinned: true });
    talk.tell({ type: "message.pinned", message: "3.0", pinned: true });
    talk.tell({ type: "system.changed", system: "B" });
    talk.tell({ type: "system.reset" });
    talk.tell({ type: "thread.configured", configuration: { fingerprint: "other" } });
    talk.tell({ type: "message.appended", message: { role: "user", content: "by the way" } });
    talk.tell({ type: "turn.annotated", turn: 3, name: "score", value: 1 });
    const { entries, left } = forked(talk.entries, 2);
    const { context } = right(replay(talk.machine, entries));
    expect(wholeTextsOf(foldOf(entries))).toEqual(["A", "one", "first", "two", "second"]);
    expect(context.conversation).toMatchObject({ head: 2, checkpoints: { one: 1 }, pins: [{ message: "1.0" }] });
    expect(left.entries.map(({ type }) => type)).toEqual([
      "checkpoint.named",
      "message.pinned",
      "system.changed",
      "system.reset",
      "thread.configured",
      "message.appended",
    ]);
    for (const { seq, type } of left.entries) expect(talk.entries[seq]?.event.type).toBe(type);
  });

  test("names what joined the turn that is open, and not what a closed one holds", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first");
    talk.tell({ type: "message.appended", message: { role: "user", content: "led by" } });
    talk.say("two", "second");
    talk.tell({ type: "message.appended", message: { role: "user", content: "waits" } });
    talk.ask("three", "c");
    talk.tell({ type: "message.appended", message: { role: "user", content: "meanwhile" } });
    const named = [
      { seq: 6, type: "message.appended" },
      { seq: 8, type: "message.appended" },
    ];
    expect(forked(talk.entries).left).toEqual({ effects: ["t/3.1#1"], asks: ["c"], entries: named });
    expect(forked(talk.entries, 1).left.entries).toEqual(named);
  });

  test("pins what is off its path where it is on one, and unpins it again", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first");
    talk.tell({ type: "head.moved", to: 0 });
    talk.say("two", "second");
    talk.tell({ type: "head.moved", to: 1 });
    talk.tell({ type: "message.pinned", message: "1.1", pinned: true });
    const pinned = forked(talk.entries, 2);
    expect(right(replay(talk.machine, pinned.entries)).context.conversation).toMatchObject({
      head: 2,
      pins: [{ turn: 1, message: "1.1" }],
    });
    talk.tell({ type: "message.pinned", message: "1.1", pinned: false });
    expect(right(replay(talk.machine, forked(talk.entries, 2).entries)).context.conversation.pins).toEqual([]);
  });
});
