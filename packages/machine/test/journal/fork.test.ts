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
import { redactEntry } from "../../src/storage.ts";
import { decodeJournal, type LeftBehind, forkOf } from "../../src/journal.ts";
import { CheckedTalk } from "../checked-talk.ts";
import { runs } from "../runs.ts";
import { foldOf, right } from "../reading.ts";

const forked = (entries: readonly Entry[], turn?: number) =>
  right(forkOf(entries, { threadId: "copy", at: 1_000, ...(turn === undefined ? {} : { turn }) }));

/** Checks that each later event of the thread is in the copy, or is named as left out. */
const expectSameSince = (parent: State, copy: State, left: LeftBehind): void => {
  const [from, to] = [parent.context.conversation, copy.context.conversation];
  const { length } = to.turns;
  const named = new Set(left.entries.map(({ type }) => type));
  if (!named.has("checkpoint.named")) expect(to.checkpoints).toEqual(from.checkpoints);
  if (!named.has("message.pinned"))
    expect(to.pins.filter(({ turn }) => turn <= length)).toEqual(from.pins.filter(({ turn }) => turn <= length));
  const isHead = length === from.head;
  // Names and pins may refer to other turns, or to a message of the open one.
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

  test("is a journal that the machine itself would have written", () => {
    // The delay of a retry depends on the thread's id.
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
  test("behind an open turn, as only in handmade journals, gets the state after the previous turn", () => {
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

  test("is refused with a reason if the turn, id or journal is invalid", () => {
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

/** Returns the texts of a thread, after its system prompt. */
const wholeTextsOf = (state: State): readonly string[] => {
  const { system } = state.context.conversation;
  return [...(system === null ? [] : [textOf(system)]), ...messagesOf(state).map(textOf)];
};

describe("of later events, a copy", () => {
  test("of an older turn has the names and pins of its own turns, and lists the rest", () => {
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

  test("says again which of its entries were redacted, also if it is one, and not which others were", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first");
    talk.say("two", "second");
    talk.tell({ type: "thread.redacted", seqs: [1, 3], reason: "asked for" });
    const redactions = (turn: number) =>
      forked(talk.entries, turn).entries.flatMap(({ event }) => (event.type === "thread.redacted" ? [event.seqs] : []));
    expect([redactions(2), redactions(1), redactions(0)]).toEqual([[[1, 3]], [[1]], []]);
  });

  test("keeps the mark of a redacted entry, and marks no other entry", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first");
    talk.tell({ type: "metadata.changed", metadata: { name: "a secret" } });
    talk.tell({ type: "metadata.changed", metadata: { name: "known to all" } });
    const stored = talk.entries.map((entry) => (entry.seq === 3 ? redactEntry(entry) : entry));
    const { entries } = forked(stored);
    expect(entries.slice(3).map(({ event, ...entry }) => [event.type, "redacted" in entry])).toEqual([
      ["thread.forked", false],
      ["metadata.changed", true],
      ["metadata.changed", false],
    ]);
    expect(entries[4]).toMatchObject({ redacted: true });
  });

  test("names the entries of a redaction in the order of the copy, in which a waiting message comes after the rest", () => {
    const talk = new CheckedTalk();
    talk.tell({ type: "message.appended", message: { role: "user", content: "a secret" } });
    talk.tell({ type: "metadata.changed", metadata: { name: "a secret" } });
    talk.tell({ type: "thread.redacted", seqs: [1, 2] });
    const { entries } = forked(talk.entries);
    expect(entries.slice(-3).map(({ event, seq }) => [event.type, seq])).toEqual([
      ["metadata.changed", 2],
      ["message.appended", 3],
      ["thread.redacted", 4],
    ]);
    expect(entries.at(-1)?.event).toMatchObject({ seqs: [2, 3] });
  });

  test("lists the messages that arrived in the thread's open turn", () => {
    const talk = new CheckedTalk();
    talk.say("one", "first");
    talk.ask("two");
    const { entry } = talk.tell({ type: "message.appended", message: { role: "user", content: "by the way" } });
    const { entries, left } = forked(talk.entries);
    expect(left.entries).toEqual([{ seq: entry.seq, type: "message.appended" }]);
    expect(wholeTextsOf(foldOf(entries))).toEqual(["one", "first"]);
  });
});
