import { contentText, type OpenTurn, type State, toArray, type Turn } from "@colloquy/machine";
import { foldable, type TreeRow, treeRows, type TurnTree, turnTree } from "@colloquy/machine/inspect";
import { tokensOf } from "../text/figures.ts";
import { type Line, line, type Span, span } from "../text/line.ts";
import { oneLine, shortened } from "../text/printable.ts";
import { itemsOf, rowOf } from "./items.ts";
import { type Position, scrollingView, start } from "./scrolling-view.ts";
import type { View, ViewStep } from "./view.ts";

/**
 * Returns a view of a thread's turns with their branches; the head is selected. The path to the head is not indented,
 * however long it is.
 */
export const treeView = (state: State): View => {
  const { conversation, open } = state.context;
  const turns = new Map<number, Turn | OpenTurn>(toArray(conversation.turns).map((turn) => [turn.number, turn]));
  if (open !== null) turns.set(open.number, open);
  const names = new Map<number, string[]>();
  for (const [name, turn] of Object.entries(conversation.checkpoints))
    names.set(turn, [...(names.get(turn) ?? []), oneLine(name)]);
  const shown: Shown = { state, turns, names, tree: turnTree(state, turns.values()) };
  return foldedView(shown, new Set(), open?.number ?? conversation.head, start);
};

interface Shown {
  readonly state: State;
  readonly turns: ReadonlyMap<number, Turn | OpenTurn>;
  readonly names: ReadonlyMap<number, readonly string[]>;
  readonly tree: TurnTree;
}

const foldedView = (shown: Shown, folded: ReadonlySet<number>, selected: number, position: Position): View => {
  const rows = treeRows(shown.tree, folded);
  return scrollingView(
    {
      title: `Tree of ${shown.state.context.threadId}`,
      items: itemsOf(
        rows,
        (row, columns) => rowLine(shown, row, columns),
        ({ turn }) => questionOf(shown, turn),
      ),
      empty: "",
      selects: true,
      hints: ["Enter go there", "e edit", "f fork", "c checkpoint", "←→ fold"],
      press: (name, at) => {
        const row = rows[at.selected];
        if (row === undefined) return null;
        if (name === "e" && row.turn === 0)
          return { view: foldedView(shown, folded, 0, { ...at, note: "nothing was asked there" }) };
        if (name !== "left" && name !== "right") return actionAt(shown, row.turn, name);
        const isFolded = folded.has(row.turn);
        if (name === "left" && (isFolded || foldable(shown.tree, row).length === 0)) {
          // The first turn of its branch, or the last turn before it with branches.
          const above = rows
            .slice(0, at.selected)
            .findLast((each) => each.depth <= row.depth && (each.begins || foldable(shown.tree, each).length > 0));
          return { view: foldedView(shown, folded, above?.turn ?? row.turn, at) };
        }
        const others = [...folded].filter((turn) => turn !== row.turn);
        return { view: foldedView(shown, new Set(name === "left" ? [...others, row.turn] : others), row.turn, at) };
      },
    },
    { ...position, selected: rows.findIndex(({ turn }) => turn === selected) },
  );
};

const actionAt = ({ state }: Shown, turn: number, name: string): ViewStep | null => {
  switch (name) {
    case "enter":
      return { view: null, ...(state.context.open?.number === turn ? {} : { action: { type: "moveHead", turn } }) };
    case "e":
      return { view: null, action: { type: "edit", turn } };
    case "f":
      return { view: null, action: { type: "fork", turn } };
    case "c":
      return { view: null, action: { type: "checkpoint", turn } };
    default:
      return null;
  }
};

const rowLine = (shown: Shown, row: TreeRow, columns: number): Line => {
  const { turn } = row;
  const before = [
    span(branches(row, columns), "dim"),
    glyphOf(shown, turn),
    span(turn === 0 ? "" : `${turn} `, "number"),
  ];
  const words = span(questionOf(shown, turn), shown.tree.path.has(turn) ? "plain" : "dim");
  return rowOf(before, words, marksOf(shown, row), columns);
};

/** Returns the most important mark of a turn, which is shown even without room for words. */
const glyphOf = ({ turns, tree }: Shown, turn: number): Span => {
  if (statusMarks(turns.get(turn)).some((status) => status !== "open")) return span("✗ ", "error");
  return tree.path.has(turn) ? span("● ", "prompt") : span("○ ", "dim");
};

/** Draws branches; the depth of very deep ones is shown as a number. */
const branches = ({ depth, begins }: TreeRow, columns: number): string => {
  if (depth === 0) return "";
  const last = begins ? "├─" : "│ ";
  return depth * last.length > columns / 3 ? `│${depth}${last}` : "│ ".repeat(depth - 1) + last;
};

/** Returns the marks of a turn, the most important first. */
const marksOf = ({ state, turns, names }: Shown, { turn, hidden }: TreeRow): readonly Line[] => {
  const found = turns.get(turn);
  return [
    ...(state.context.conversation.head === turn ? [line("head", "success")] : []),
    ...statusMarks(found).map((status) => line(status, status === "open" ? "success" : "error")),
    ...(hidden > 0 ? [line(`+${hidden}`, "strong")] : []),
    ...(names.get(turn) ?? []).map((name) => line(`[${name}]`, "name")),
    ...annotationsOf(found).map((note) => line(note, "string")),
    ...(found === undefined || found.usage.calls === 0 ? [] : [line(tokensOf(found.usage), "dim")]),
  ];
};

const statusMarks = (turn: Turn | OpenTurn | undefined): readonly string[] => {
  if (turn === undefined) return [];
  if (!("outcome" in turn)) return ["open"];
  return turn.outcome.status === "completed" ? [] : [turn.outcome.status];
};

const annotationsOf = (turn: Turn | OpenTurn | undefined): readonly string[] => {
  const annotations = turn !== undefined && "annotations" in turn ? turn.annotations : [];
  return annotations.map(({ name, value }) =>
    shortened(`${name} ${typeof value === "string" ? value : JSON.stringify(value)}`),
  );
};

/** Returns the question of a turn in one line; without a question, its first words. */
const questionOf = ({ turns }: Pick<Shown, "turns">, number: number): string => {
  if (number === 0) return "the beginning";
  const turn = turns.get(number);
  const messages = turn === undefined ? [] : toArray(turn.messages);
  const asked = messages.find(({ role }) => role === "user") ?? messages[0];
  if (asked === undefined) return "";
  const words = oneLine(contentText(asked.parts));
  return asked.role === "user" ? words : `${asked.role}: ${words}`;
};
