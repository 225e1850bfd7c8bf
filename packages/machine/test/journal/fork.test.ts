import { journalArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import {
  conversationMachine,
  type Entry,
  type MachineOptions,
  messagesOf,
  noUsage,
  outstanding,
  type State,
  textOf,
  toArray,
  transition,
  usageMonoid,
} from "../../src/index.ts";
import { replay } from "../../src/inspect.ts";
import { decodeJournal, type LeftBehind, fold, forkOf } from "../../src/journal.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { runs } from "../runs.ts";
import { calling } from "../talk.ts";

const right = <Value>(either: Either.Either<unknown, Value>): Value => {
  if (Either.isLeft(either)) throw new Error(JSON.stringify(either.left));
  return either.right;
};
const forked = (entries: readonly Entry[], turn?: number) =>
  right(forkOf(entries, { threadId: "copy", at: 1_000, ...(turn === undefined ? {} : { turn }) }));
const foldOf = (entries: readonly Entry[]): State => right(fold(entries));
const textsOf = (state: State): readonly string[] => messagesOf(state).map(textOf);

/** Checks that each later event of the thread is in the copy, or is named as left out. */
const expectSameSince = (parent: State, copy: State, left: LeftBehind): void => {
  const [from, to] = [parent.context.conversation, copy.context.conversation];
  const { length } = to.turns;
  const named = new Set(left.entries.map(({ type }) => type));
  if (!named.has("checkpoint.named")) expect(to.checkpoints).toEqual(from.checkpoints);
  if (!named.has("message.pinned"))
    expect(to.pins.filter(({ turn }) => turn <= length)).toEqual(from.pins.filter(({ turn }) => turn <= length));
  const isHead = length === from.head;
  // Names and pins may be of other turns, and a message of the one that is open.
  const mayBeNamed = [
    "checkpoint.named",
    "message.pinned",
    ...(parent.context.open === null ? [] : ["message.appended", "round.appended"]),
  ];
  if (isHead) expect([...named].filter((type) => !mayBeNamed.includes(type))).toEqual([]);
  if (isHead || !(named.has("system.changed") || named.has("system.reset"))) {
    expect(to.system).toEqual(from.system);
    expect(to.systems).toBe(from.systems);
  }
  if (isHead && parent.context.open === null)
    expect(to.appended.map(({ parts }) => parts)).toEqual(from.appended.map(({ parts }) => parts));
};

describe("a copy at any turn of any journal", () => {
  test("has that turn at its head, nothing under way, and the turns as they are in the thread", () => {
    fc.assert(
      fc.property(journalArbitrary(), fc.nat(), (entries, pick) => {
        const parent = foldOf(entries);
        const turn = pick % (parent.context.conversation.turns.length + 1);
        const copy = forked(entries, turn);
        expect(right(decodeJournal(JSON.parse(JSON.stringify(copy.entries))))).toEqual(copy.entries);
        const state = foldOf(copy.entries);
        const { context } = state;
        expect(context.threadId).toBe("copy");
        expect(context.conversation.head).toBe(turn);
        expect(context.conversation.turns.length).toBe(turn);
        expect(context.forkedFrom).toEqual({ threadId: parent.context.threadId, turn });
        expect(context.metadata).toEqual(parent.context.metadata);
        expectSameSince(parent, state, copy.left);
        expect([context.open, context.queue, context.waking, context.summarising]).toEqual([null, [], null, null]);
        expect(outstanding(state)).toEqual([]);
        expect(typeof state.value).toBe("string");
        const turns = toArray(context.conversation.turns);
        for (const [index, copied] of turns.entries()) {
          const original = toArray(parent.context.conversation.turns)[index];
          expect(copied.messages).toEqual(original?.messages);
          expect(copied.annotations).toEqual(original?.annotations);
          expect([copied.number, copied.parent, copied.outcome]).toEqual([
            original?.number,
            original?.parent,
            original?.outcome,
          ]);
        }
        const used = turns.reduce((sum, { usage }) => usageMonoid.concat(sum, usage), noUsage);
        expect(usageMonoid.concat(used, context.usage.betweenTurns)).toEqual(context.usage.total);
        expect(copy.left.effects).toEqual(outstanding(parent).map(({ id }) => id));
        const told = transition(conversationMachine(), state, {
          type: "ask.received",
          at: 2_000,
          askId: "on",
          input: "go on",
        });
        expect(told.handled).toBe(true);
        const ids = told.effects.flatMap((effect) => ("id" in effect ? effect.id : []));
        expect(ids.filter((id) => !id.startsWith("copy/"))).toEqual([]);
      }),
      { numRuns: runs(400) },
    );
  });

  test("is one that the machine itself would have written, as that of the thread is", () => {
    // How long a retry waits depends on the id of the thread.
    const options: MachineOptions = {
      tools: [{ name: "lookup" }],
      overlap: { type: "queue", max: 4 },
      retry: { attempts: 1 },
    };
    const machine = conversationMachine(options);
    fc.assert(
      fc.property(journalArbitrary(options), fc.nat(), (entries, pick) => {
        fc.pre(Either.isRight(replay(machine, entries)));
        const { length } = foldOf(entries).context.conversation.turns;
        const copy = forked(entries, pick % (length + 1)).entries;
        const replayed = replay(machine, copy);
        expect(Either.isLeft(replayed) ? replayed.left : null).toBeNull();
        expect(replayed).toEqual(Either.right(foldOf(copy)));
      }),
      { numRuns: runs(100) },
    );
  });
});

describe("a copy", () => {
  test("ends at the head where no turn is named, and leaves behind what was undone", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first");
    talk.say("two", "second");
    talk.tell({ type: "head.moved", to: 1 });
    const copy = forked(talk.entries);
    expect(textsOf(foldOf(copy.entries))).toEqual(["one", "first"]);
    expect(copy.entries.map(({ event }) => event.type)).toEqual([
      "thread.started",
      "ask.received",
      "llm.completed",
      "thread.forked",
    ]);
  });

  test("may be of a turn that is off the path, or was added by hand, or cancelled", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first");
    talk.tell({ type: "turn.added", messages: [{ role: "user", content: "by hand" }] });
    talk.ask("three");
    talk.tell({ type: "cancel.requested", partial: { content: "half" } });
    talk.tell({ type: "head.moved", to: 0 });
    talk.say("four", "fourth");
    expect(textsOf(foldOf(forked(talk.entries, 2).entries))).toEqual(["one", "first", "by hand"]);
    const cancelled = foldOf(forked(talk.entries, 3).entries);
    expect(textsOf(cancelled)).toEqual(["one", "first", "by hand", "three", "half"]);
    expect(cancelled.value).toBe("error");
    expect(textsOf(foldOf(forked(talk.entries, 4).entries))).toEqual(["four", "fourth"]);
    expect(textsOf(foldOf(forked(talk.entries, 0).entries))).toEqual([]);
  });

  test("of a turn that a move of the head closed stands behind that turn", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first");
    talk.tell({ type: "message.appended", message: { role: "user", content: "by the way" } });
    talk.tell({ type: "head.moved", to: 0 });
    const copy = forked(talk.entries, 2);
    expect(textsOf(foldOf(copy.entries))).toEqual(["one", "first", "by the way"]);
    expect(right(replay(talk.machine, copy.entries)).context.conversation.head).toBe(2);
  });

  test("that stands behind an open turn, as only journals made by hand do, ends where the turn before it led", () => {
    const talk = new CheckedTalk();
    const valueOf = () => {
      const event = { type: "thread.forked", at: 1_000, from: { threadId: "u", turn: 0 } } as const;
      return foldOf([...talk.entries, { seq: talk.entries.length, event }]).value;
    };
    talk.ask("one");
    expect(valueOf()).toBe("completed");
    talk.fail();
    talk.ask("two");
    expect(valueOf()).toBe("error");
  });

  test("keeps what was said later about its turns, and nothing about others", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first answer");
    talk.say("two", "second answer");
    talk.tell({ type: "turn.annotated", turn: 1, name: "score", value: 5 });
    talk.tell({ type: "turn.annotated", turn: 2, name: "score", value: 1 });
    talk.tell({ type: "answer.truncated", turn: 1, characters: 5 });
    talk.tell({ type: "metadata.changed", metadata: { user: "u" } });
    const state = foldOf(forked(talk.entries, 1).entries);
    expect(textsOf(state)).toEqual(["one", "first"]);
    expect(toArray(state.context.conversation.turns)[0]?.annotations).toEqual([
      { name: "score", value: 5, at: expect.any(Number) },
    ]);
    expect(state.context.metadata).toEqual({ user: "u" });
  });

  test("leaves behind what is under way in the thread and what waits, and says so", () => {
    const talk = new CheckedTalk({ tools: [{ name: "lookup" }], overlap: { type: "queue", max: 3 } });
    talk.say("one", "first");
    talk.ask("two", "b");
    talk.reply(calling("lookup", "lookup"));
    talk.result(0, "found");
    talk.ask("three", "c");
    const copy = forked(talk.entries);
    expect(copy.left).toEqual({ effects: ["t/2.1.1#1"], asks: ["b", "c"], entries: [] });
    expect(textsOf(foldOf(copy.entries))).toEqual(["one", "first"]);
    // The thread continues as if nothing had happened.
    talk.result(1, "found too");
  });

  test("has dropped the asks that waited when its last turn ended, which the thread may have answered since", () => {
    const talk = new CheckedTalk({ overlap: { type: "queue", max: 3 } });
    talk.ask("one", "a");
    talk.ask("two", "b");
    talk.reply("first");
    const waiting = talk.now;
    talk.fire("queue");
    talk.reply("second");
    const copy = forked(talk.entries, 1);
    expect(copy.left).toEqual({ effects: [], asks: [], entries: [] });
    expect(foldOf(copy.entries).context.dropped).toEqual([
      { askId: "b", askedAt: waiting - 1, droppedAt: 1_000, because: "left" },
    ]);
  });

  test("of a thread whose words were taken out has them no more, nor the summaries of them", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first");
    talk.say("two", "second");
    talk.tell({ type: "turn.annotated", turn: 1, name: "note", value: "x" });
    talk.tell({ type: "thread.redacted", seqs: [1, 3, 5] });
    const copy = forked(talk.entries, 1);
    expect(copy.entries.map(({ event }) => event.type)).toEqual([
      "thread.started",
      "ask.received",
      "llm.completed",
      "thread.forked",
      "turn.annotated",
      "thread.redacted",
    ]);
    expect(copy.entries[5]?.event).toMatchObject({ seqs: [1, 4] });
  });

  test("is refused in words where there is no such turn, id or journal", () => {
    const talk = new CheckedTalk();
    expect(forkOf(talk.entries, { threadId: "copy", turn: 1, at: 9 })).toEqual(
      Either.left("there is no closed turn 1; there are none"),
    );
    talk.say("one", "first");
    talk.ask("two");
    expect(forkOf(talk.entries, { threadId: "copy", turn: 2, at: 9 })).toEqual(
      Either.left("there is no closed turn 2; there are 1 to 1"),
    );
    expect(forkOf(talk.entries, { threadId: "t", at: 9 })).toEqual(
      Either.left('a copy of thread "t" needs another id than that'),
    );
    expect(forkOf([], { threadId: "copy", at: 9 })).toEqual(Either.left("entry 0: the journal is empty"));
  });
});
