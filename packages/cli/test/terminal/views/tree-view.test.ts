import { conversationMachine, transition } from "@colloquy/machine";
import { expect, test } from "vitest";
import { treeView } from "../../../src/terminal/index.ts";
import { hugeState } from "./huge-state.ts";
import { after, pressing, screenOf } from "./shown-text.ts";
import { story } from "./story.ts";

const { state } = await story();
const tree = treeView(state);
const usual = { columns: 80, rows: 24 };

test("the way to the head is not indented, and branches stand beneath the turn that they leave", () => {
  expect(screenOf(tree, usual)).toBe(
    `
Tree of story                                                               7/7
  ● the beginning
  ● 1 What is the weather in Oslo?  [opening]  ≥ 1.2k tokens
  ├─○ 2 there was a dragon  1.2k tokens
  │ ○ 3 what does it do?  quality 0.9  1.2k tokens
  ├─✗ 4 there was a knight  failed  ? tokens
  ● 5 there was a librarian, who had read all the books of the to…  1.2k tokens
> ● 6 what does she do?  head  1.2k tokens
q close · Enter go there · e edit · f fork · c checkpoint · ←→ fold · / search`.slice(1),
  );
});

test("keys act on the selected turn, and close the tree", () => {
  expect(pressing(tree, usual, "k", "k", "enter")).toEqual({ view: null, action: { type: "moveHead", turn: 4 } });
  expect(pressing(tree, usual, "up", "e")).toEqual({ view: null, action: { type: "edit", turn: 5 } });
  expect(pressing(tree, usual, "g", "f")).toEqual({ view: null, action: { type: "fork", turn: 0 } });
  expect(pressing(tree, usual, "home", "down", "c")).toEqual({ view: null, action: { type: "checkpoint", turn: 1 } });
  expect(pressing(tree, usual, "escape")).toEqual({ view: null });
  expect(pressing(tree, usual, "q")).toEqual({ view: null });
});

test("nothing was asked at the beginning, so there is nothing to edit", () => {
  expect(screenOf(after(tree, usual, "g", "e"), usual)).toMatch(/\nnothing was asked there$/);
});

test("folding a turn hides its branches, folding a branch all behind its first turn", () => {
  const folded = after(tree, usual, "g", "j", "left");
  expect(screenOf(folded, usual)).toBe(
    `
Tree of story                                                               2/4
  ● the beginning
> ● 1 What is the weather in Oslo?  +3  [opening]  ≥ 1.2k tokens
  ● 5 there was a librarian, who had read all the books of the to…  1.2k tokens
  ● 6 what does she do?  head  1.2k tokens
q close · Enter go there · e edit · f fork · c checkpoint · ←→ fold · / search`.slice(1),
  );
  expect(screenOf(after(folded, usual, "right"), usual)).toBe(screenOf(after(tree, usual, "g", "j"), usual));
  const branch = after(tree, usual, "g", "j", "j", "j", "left", "left");
  expect(screenOf(branch, usual)).toContain(
    "\n> ├─○ 2 there was a dragon  +1  1.2k tokens\n  ├─✗ 4 there was a knight",
  );
});

test("left goes up to where something can be folded", () => {
  expect(screenOf(after(tree, usual, "left"), usual)).toContain("\n> ● 1 What is");
});

test("the open turn is the end of the path", () => {
  const asked = transition(conversationMachine(), state, {
    type: "ask.received",
    askId: "a",
    at: 1,
    input: "and now?",
  });
  const view = treeView(asked.state);
  expect(screenOf(view, usual)).toContain("\n> ● 7 and now?  open");
  expect(view.press({ type: "key", name: "enter" }, usual)).toEqual({ view: null });
});

test("a search goes through the questions, around the ends", () => {
  const found = after(tree, usual, "/", "THERE WAS", "enter");
  expect(screenOf(found, usual)).toContain("\n> ├─○ 2 there was a dragon");
  expect(screenOf(after(found, usual, "n", "n"), usual)).toContain("\n> ● 5 there was a librarian");
  expect(screenOf(after(found, usual, "N"), usual)).toContain("\n> ● 5 there was a librarian");
  expect(screenOf(after(tree, usual, "/", "unicorn", "enter"), usual)).toMatch(/\nnot found: unicorn$/);
  expect(screenOf(after(tree, usual, "/", "x", "escape"), usual)).toBe(screenOf(tree, usual));
});

test("of 100,000 turns those in sight are laid out", () => {
  const { state: huge, looks } = hugeState(state, 100_000);
  const view = treeView(huge);
  const before = looks();
  expect(screenOf(view, usual)).toContain("\n> ● 100000 ");
  expect(screenOf(after(view, usual, "pageup", "pageup", "g", "pagedown"), usual)).toContain("\n> ● 21 ");
  expect(looks() - before).toBeLessThan(10 * usual.rows);
});
