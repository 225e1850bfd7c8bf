import { expect, test } from "vitest";
import { askNamed, asksOf, conversationMachine, type MachineOptions, type State, textOf } from "../../../src/index.ts";
import { redoTarget, undoTarget, waitingAsks } from "../../../src/hosting.ts";
import { runs } from "../../runs.ts";
import { calling, Talk } from "../../talk.ts";
import { CheckedTalk } from "../../checked-talk.ts";

import fc from "fast-check";

const addTurn = (talk: Talk): void =>
  void talk.tell({ type: "turn.added", messages: [{ role: "user", content: "said" }] });
const numbersOf = ({ head, turns }: ReturnType<typeof undoTarget>): readonly unknown[] => [
  head,
  turns.map(({ number }) => number),
];

test("undo takes back the newest turns of the path, and redo goes towards the newest turn behind the head", () => {
  const talk = new Talk(conversationMachine());
  for (let turn = 1; turn <= 4; turn++) addTurn(talk);
  const undo = (steps: number) => numbersOf(undoTarget(talk.state, steps));
  const redo = (steps: number) => numbersOf(redoTarget(talk.state, steps));
  expect([undo(0), undo(1), undo(3), undo(9)]).toEqual([
    [4, []],
    [3, [4]],
    [1, [4, 3, 2]],
    [0, [4, 3, 2, 1]],
  ]);
  expect(redo(1)).toEqual([4, []]);
  talk.tell({ type: "head.moved", to: 2 });
  expect([redo(0), redo(1), redo(9)]).toEqual([
    [2, []],
    [3, [3]],
    [4, [4, 3]],
  ]);
  addTurn(talk);
  // A newer turn was asked after turn 2.
  expect(undo(1)).toEqual([2, [5]]);
  talk.tell({ type: "head.moved", to: 0 });
  expect(redo(9)).toEqual([5, [5, 2, 1]]);
  talk.tell({ type: "head.moved", to: 3 });
  expect(redo(9)).toEqual([4, [4]]);
  talk.tell({ type: "head.moved", to: 4 });
  expect(redo(9)).toEqual([4, []]);
});

test("the asks that wait are those that join the open turn, and then those in the queue", () => {
  const talk = new Talk(conversationMachine({ overlap: { type: "queue", max: 9 } }));
  const wait = (askId: string, input: string, overlap: "queue" | "steer"): void =>
    void talk.tell({ type: "ask.received", askId, input, overlap });
  talk.ask("Open.");
  wait("a", "Later.", "queue");
  wait("b", "Also.", "steer");
  const waiting = waitingAsks(talk.state).map(({ askId, messages }) => [askId, messages.map(textOf)]);
  expect(waiting).toEqual([
    ["b", ["Also."]],
    ["a", ["Later."]],
  ]);
});

test("in any tree they equal the result of a plain walk", () => {
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.nat()), { maxLength: 90 }),
      fc.nat(),
      fc.nat({ max: 12 }),
      (moves, pick, steps) => {
        const talk = new Talk(conversationMachine());
        const count = (): number => talk.state.context.conversation.turns.length;
        for (const move of moves) {
          if (move === null) addTurn(talk);
          else talk.tell({ type: "head.moved", to: move % (count() + 1) });
        }
        talk.tell({ type: "head.moved", to: pick % (count() + 1) });
        expect(numbersOf(undoTarget(talk.state, steps))).toEqual(plainUndo(talk.state, steps));
        expect(numbersOf(redoTarget(talk.state, steps))).toEqual(plainRedo(talk.state, steps));
      },
    ),
    { numRuns: runs(200) },
  );
});

/** Returns the numbers from a turn back to the beginning. */
const wayBack = (state: State, from: number): readonly number[] => {
  const numbers: number[] = [];
  for (let number = from; number > 0;) {
    numbers.push(number);
    number = undoTarget({ ...state, context: headed(state, number) }, 1).head;
  }
  return numbers;
};

const headed = ({ context }: State, head: number): State["context"] => ({
  ...context,
  conversation: { ...context.conversation, head },
});

const plainUndo = (state: State, steps: number): readonly unknown[] => {
  const way = wayBack(state, state.context.conversation.head);
  return [way[steps] ?? 0, way.slice(0, steps)];
};

const plainRedo = (state: State, steps: number): readonly unknown[] => {
  const { head, turns } = state.context.conversation;
  for (let newest = turns.length; newest > 0; newest--) {
    const way = [...wayBack(state, newest), 0];
    const index = way.indexOf(head);
    if (index <= 0) continue;
    const redone = way.slice(Math.max(index - steps, 0), index);
    return [redone[0] ?? head, redone];
  }
  return [head, []];
};

const statuses = (talk: Talk, last?: number): readonly string[] =>
  asksOf(talk.state, last).map(({ askId, status, turn }) => `${askId} ${status} ${turn}`);

const queueing: MachineOptions = { tools: [{ name: "lookup" }], overlap: { type: "queue", max: 5 } };

test("an ask is found at each stage of its life, with its turn and its times", () => {
  const talk = new CheckedTalk(queueing);
  talk.ask("one", "a");
  expect(askNamed(talk.state, "a")).toEqual({ askId: "a", status: "open", turn: 1, askedAt: 1, startedAt: 1 });
  talk.ask("two", "b");
  talk.ask("three", "c");
  talk.tell({ type: "ask.received", askId: "d", input: "and", joins: {} });
  expect(statuses(talk)).toEqual(["a open 1", "b queued null", "c queued null", "d joining 1"]);
  talk.tell({ type: "cancel.requested", askId: "c" });
  talk.tell({ type: "cancel.requested", reason: "enough" });
  expect(askNamed(talk.state, "a")).toEqual({
    askId: "a",
    status: "cancelled",
    turn: 1,
    askedAt: 1,
    startedAt: 1,
    endedAt: 6,
    outcome: { status: "cancelled", reason: "enough" },
  });
  expect(askNamed(talk.state, "c")).toEqual({ askId: "c", status: "withdrawn", turn: null, askedAt: 3, endedAt: 5 });
  expect(statuses(talk)).toEqual(["a cancelled 1", "b queued null", "c withdrawn null", "d returned null"]);
  talk.fire("queue");
  talk.reply(calling("lookup"));
  talk.tell({ type: "ask.received", askId: "e", input: "also", joins: {} });
  talk.result(0, "found");
  expect(statuses(talk, 2)).toEqual(["d returned null", "e open 2"]);
  talk.reply("done");
  expect(statuses(talk)).toEqual([
    "a cancelled 1",
    "b completed 2",
    "c withdrawn null",
    "d returned null",
    "e completed 2",
  ]);
  expect(askNamed(talk.state, "nobody")).toBeNull();
});

test("the newest so many are listed, of the newest 256 turns, and no more than asked for", () => {
  const talk = new Talk(conversationMachine());
  for (let turn = 1; turn <= 300; turn++) {
    talk.ask("again", `a${turn}`);
    talk.reply("yes");
  }
  expect(statuses(talk, 2)).toEqual(["a299 completed 299", "a300 completed 300"]);
  expect(asksOf(talk.state, 0)).toEqual([]);
  expect(asksOf(talk.state)).toHaveLength(256);
  expect(asksOf(talk.state, 1_000)).toHaveLength(256);
  expect([askNamed(talk.state, "a44"), askNamed(talk.state, "a45")?.turn]).toEqual([null, 45]);
  for (const last of [-1, 0.5, Number.NaN]) expect(() => asksOf(talk.state, last)).toThrow(`last is ${last}`);
});
