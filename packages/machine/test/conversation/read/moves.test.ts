import fc from "fast-check";
import { expect, test } from "vitest";
import {
  messagesOf,
  redoTarget,
  type State,
  textOf,
  toArray,
  undoTarget,
  conversationMachine,
} from "../../../src/index.ts";
import { runs } from "../../runs.ts";
import { Talk } from "../../talk.ts";

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
  // A turn was asked behind 2 since: that is the newest one.
  expect(undo(1)).toEqual([2, [5]]);
  talk.tell({ type: "head.moved", to: 0 });
  expect(redo(9)).toEqual([5, [5, 2, 1]]);
  talk.tell({ type: "head.moved", to: 3 });
  expect(redo(9)).toEqual([4, [4]]);
  talk.tell({ type: "head.moved", to: 4 });
  expect(redo(9)).toEqual([4, []]);
});

test("what was appended since the last turn is the newest turn: undo takes it back first, and redo has it back", () => {
  const talk = new Talk(conversationMachine());
  addTurn(talk);
  talk.tell({ type: "message.appended", message: { role: "user", content: "by the way" } });
  const said = (): readonly string[] => messagesOf(talk.state).map(textOf);
  expect(numbersOf(undoTarget(talk.state, 9))).toEqual([0, [2, 1]]);
  expect(numbersOf(redoTarget(talk.state, 9))).toEqual([2, []]);
  for (const steps of [1, 2]) {
    const { head, turns } = undoTarget(talk.state, steps);
    talk.tell({ type: "head.moved", to: head });
    expect(said()).toEqual(["said", "by the way"].slice(0, 2 - steps));
    const back = redoTarget(talk.state, steps);
    expect(back.turns.map(({ number, messages }) => [number, toArray(messages)])).toEqual(
      turns.map(({ number, messages }) => [number, toArray(messages)]),
    );
    talk.tell({ type: "head.moved", to: back.head });
    expect(said()).toEqual(["said", "by the way"]);
  }
});

test("in any tree they are what a plain walk finds", () => {
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

/** The numbers from a turn to the beginning, newest first. */
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
