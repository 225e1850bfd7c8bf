import { type OpenTurn, type State, toArray, type Turn } from "@colloquy/machine";
import { tokensOf } from "../text/figures.ts";
import type { Line, Role, Span } from "../text/line.ts";
import { oneLine, shortened } from "../text/printable.ts";
import { rowOf, span } from "./fitted.ts";
import { itemsOf } from "./items.ts";
import { questionIn } from "./question.ts";
import { type Position, scrollingView, start } from "./scrolling-view.ts";
import { canFold, foldAbove, type TreeRow, treeRows, type TurnTree, turnTree } from "./tree-rows.ts";
import type { View, ViewStep } from "./view.ts";

/** The turns of a thread with their branches; the head is selected. The way to the head is not indented, however long. */
export const treeView = (state: State): View => {
  const { conversation, open } = state.context;
  const turns = new Map<number, Turn | OpenTurn>(toArray(conversation.turns).map((turn) => [turn.number, turn]));
  if (open !== null) turns.set(open.number, open);
  const names = new Map<number, string[]>();
  for (const [name, turn] of Object.entries(conversation.checkpoints))
    names.set(turn, [...(names.get(turn) ?? []), oneLine(name)]);
  const shown: Shown = { state, turns, names, tree: turnTree(state, [...turns.values()]) };
  const rows = treeRows(shown.tree, new Set());
  const head = open?.number ?? conversation.head;
  return foldedView(shown, new Set(), { ...start, selected: rows.findIndex(({ turn }) => turn === head) }, rows);
};

interface Shown {
  readonly state: State;
  readonly turns: ReadonlyMap<number, Turn | OpenTurn>;
  /** Checkpoints by their turns. */
  readonly names: ReadonlyMap<number, readonly string[]>;
  readonly tree: TurnTree;
}

const foldedView = (
  shown: Shown,
  folded: ReadonlySet<number>,
  position: Position,
  rows: readonly TreeRow[] = treeRows(shown.tree, folded),
): View =>
  scrollingView(
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
        return row === undefined ? null : pressed(shown, folded, rows, row, name, at);
      },
    },
    position,
  );

const pressed = (
  shown: Shown,
  folded: ReadonlySet<number>,
  rows: readonly TreeRow[],
  row: TreeRow,
  name: string,
  at: Position,
): ViewStep | null => {
  const { turn } = row;
  const isOpen = shown.state.context.open?.number === turn;
  switch (name) {
    case "enter":
      return isOpen ? { view: null } : { view: null, action: { type: "moveHead", turn } };
    case "e":
      if (turn === 0) return { view: foldedView(shown, folded, { ...at, note: "nothing was asked there" }, rows) };
      return { view: null, action: { type: "edit", turn } };
    case "f":
      return { view: null, action: { type: "fork", turn } };
    case "c":
      return { view: null, action: { type: "checkpoint", turn } };
    case "left": {
      const fold = !folded.has(turn) && canFold(shown.tree, row);
      if (fold) return { view: refolded(shown, new Set([...folded, turn]), turn, at) };
      return { view: foldedView(shown, folded, { ...at, selected: foldAbove(shown.tree, rows, at.selected) }, rows) };
    }
    case "right":
      return { view: refolded(shown, new Set([...folded].filter((each) => each !== turn)), turn, at) };
    default:
      return null;
  }
};

/** What was selected stays so. */
const refolded = (shown: Shown, folded: ReadonlySet<number>, turn: number, at: Position): View => {
  const rows = treeRows(shown.tree, folded);
  return foldedView(shown, folded, { ...at, selected: rows.findIndex((row) => row.turn === turn) }, rows);
};

const rowLine = (shown: Shown, row: TreeRow, columns: number): Line => {
  const { turn } = row;
  const onPath = shown.tree.path.has(turn);
  const before: Line = [
    { text: branches(row, columns), roles: ["dim"] },
    glyphOf(shown, turn),
    { text: turn === 0 ? "" : `${turn} `, roles: ["number"] },
  ];
  return rowOf(
    before,
    span(questionOf(shown, turn), ...(onPath ? [] : (["dim"] as const))),
    marksOf(shown, row),
    columns,
  );
};

/** What is most important about a turn, also where there is no room for words. */
const glyphOf = ({ turns, tree }: Shown, turn: number): Span => {
  if (statusMarks(turns.get(turn)).some((status) => status !== "open")) return { text: "✗ ", roles: ["error"] };
  return tree.path.has(turn) ? { text: "● ", roles: ["prompt"] } : { text: "○ ", roles: ["dim"] };
};

/** Very deep branches are counted instead of drawn. */
const branches = ({ depth, begins }: TreeRow, columns: number): string => {
  if (depth === 0) return "";
  const last = begins ? "├─" : "│ ";
  return depth * last.length > columns / 3 ? `│${depth}${last}` : "│ ".repeat(depth - 1) + last;
};

/** What there is to say about a turn, the most important first. */
const marksOf = ({ state, turns, names }: Shown, { turn, hidden }: TreeRow): readonly Line[] => {
  const { conversation } = state.context;
  const found = turns.get(turn);
  const mark = (text: string, role: Role): Line => [span(text, role)];
  return [
    ...(conversation.head === turn ? [mark("head", "success")] : []),
    ...statusMarks(found).map((status) => mark(status, status === "open" ? "success" : "error")),
    ...(hidden > 0 ? [mark(`+${hidden}`, "strong")] : []),
    ...(names.get(turn) ?? []).map((name) => mark(`[${name}]`, "name")),
    ...annotationsOf(found).map((note) => mark(note, "string")),
    ...(found === undefined || found.usage.calls === 0 ? [] : [mark(tokensOf(found.usage), "dim")]),
  ];
};

const statusMarks = (turn: Turn | OpenTurn | undefined): readonly string[] => {
  if (turn === undefined) return [];
  if (!("outcome" in turn)) return ["open"];
  return turn.outcome.status === "completed" ? [] : [turn.outcome.status];
};

const annotationsOf = (turn: Turn | OpenTurn | undefined): readonly string[] =>
  turn === undefined || !("outcome" in turn)
    ? []
    : (turn.annotations ?? []).map(({ name, value }) =>
        shortened(`${name} ${typeof value === "string" ? value : JSON.stringify(value)}`),
      );

/** What a turn was asked, in one line; of one without a question, its first words. */
const questionOf = ({ turns }: Pick<Shown, "turns">, number: number): string => {
  if (number === 0) return "the beginning";
  const messages = turns.get(number)?.messages;
  return messages === undefined ? "" : questionIn(messages);
};
