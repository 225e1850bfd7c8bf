import { expect, test } from "vitest";
import { conversationMachine, toArray } from "../../src/index.ts";
import { foldable, treeRows, turnTree } from "../../src/inspect.ts";
import { Talk } from "../talk.ts";

const say = (talk: Talk, from?: number): void => {
  if (from !== undefined) talk.tell({ type: "head.moved", to: from });
  talk.ask("And?");
  talk.reply("So.");
};

/** The path is 0, 1, 4, 5. Turn 2 branches off at 1, with 3 and 6 after it, and turn 7 at the beginning. */
const branched = (): Talk => {
  const talk = new Talk(conversationMachine());
  say(talk);
  say(talk);
  say(talk);
  say(talk, 1);
  say(talk);
  say(talk, 2);
  say(talk, 0);
  talk.tell({ type: "head.moved", to: 5 });
  return talk;
};

const rowsOf = (talk: Talk, ...folded: readonly number[]) => {
  const tree = turnTree(talk.state, toArray(talk.state.context.conversation.turns));
  return treeRows(tree, new Set(folded)).map(
    ({ turn, depth, begins, hidden }) =>
      `${"  ".repeat(depth)}${begins ? "+" : "-"} ${turn}${hidden === 0 ? "" : ` (${hidden} hidden)`}`,
  );
};

test("treeRows indents each branch below the turn where it starts, and does not indent the path", () => {
  expect(rowsOf(branched())).toEqual(["- 0", "  + 7", "- 1", "  + 2", "    + 3", "  - 6", "- 4", "- 5"]);
});

test("treeRows hides the branches at a folded turn, or the rest of a folded branch, and counts the hidden turns", () => {
  expect(rowsOf(branched(), 1)).toEqual(["- 0", "  + 7", "- 1 (3 hidden)", "- 4", "- 5"]);
  expect(rowsOf(branched(), 4)).toEqual(rowsOf(branched()));
  expect(rowsOf(branched(), 2, 5, 7)).toEqual(["- 0", "  + 7", "- 1", "  + 2 (2 hidden)", "- 4", "- 5"]);
  const tree = turnTree(branched().state, toArray(branched().state.context.conversation.turns));
  expect(foldable(tree, { turn: 9, depth: 0, begins: false })).toEqual([]);
});

test("turnTree puts the open turn at the end of the path, also of a path that was a branch", () => {
  const talk = branched();
  talk.tell({ type: "head.moved", to: 3 });
  talk.ask("Still open?");
  const { open } = talk.state.context;
  const tree = turnTree(talk.state, [
    ...toArray(talk.state.context.conversation.turns),
    { number: open?.number ?? 0, parent: open?.parent ?? 0 },
  ]);
  expect([...tree.path]).toEqual(expect.arrayContaining([0, 1, 2, 3, 8]));
  expect(tree.following[2]).toEqual([6, 3]);
  expect(tree.following[3]).toEqual([8]);
});

test("treeRows does not indent the newest branch if the head is at the beginning", () => {
  const talk = new Talk(conversationMachine());
  say(talk);
  say(talk, 0);
  talk.tell({ type: "head.moved", to: 0 });
  expect(rowsOf(talk)).toEqual(["- 0", "  + 1", "- 2"]);
  expect([...turnTree(talk.state, toArray(talk.state.context.conversation.turns)).path]).toEqual([0]);
});
