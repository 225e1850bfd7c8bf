import { turnsOf } from "../conversation/read/turns.ts";
import type { State } from "../conversation/protocol/state.ts";

/** A turn in the tree, and where its row stands. */
export interface TreeRow {
  /** 0: the beginning. */
  readonly turn: number;
  /** How many branches it lies in: none on the way to the head. */
  readonly depth: number;
  /** Whether a branch begins with it. */
  readonly begins: boolean;
  /** Turns that are folded away at it. */
  readonly hidden: number;
}

/** Who follows whom, and which turns lie on the path. */
export interface TurnTree {
  /** By the number of a turn, those that follow it, in the order of rows: what goes straight on comes last. */
  readonly following: readonly (readonly number[])[];
  readonly path: ReadonlySet<number>;
}

/** The tree of the turns, the open one included. Looks at each once. */
export const turnTree = (
  state: State,
  turns: Iterable<{ readonly number: number; readonly parent: number }>,
): TurnTree => {
  const { open } = state.context;
  const path = new Set([0, ...turnsOf(state).map(({ number }) => number), open?.number ?? 0]);
  const following: number[][] = [[]];
  for (const { number, parent } of turns) {
    following[number] = [];
    following[parent]?.push(number);
  }
  // What the path, or else the newest branch, goes on with is no branch.
  for (const numbers of following) numbers.sort((one, other) => Number(path.has(one)) - Number(path.has(other)));
  return { following, path };
};

/** The rows of a tree, top down: each branch beneath the turn that it leaves, and then what goes straight on. */
export const treeRows = (tree: TurnTree, folded: ReadonlySet<number>): readonly TreeRow[] => {
  const rows: TreeRow[] = [];
  const coming: Omit<TreeRow, "hidden">[] = [{ turn: 0, depth: 0, begins: false }];
  for (let next = coming.pop(); next !== undefined; next = coming.pop()) {
    const { turn, depth } = next;
    const hides = folded.has(turn) ? foldable(tree, next) : [];
    rows.push({ ...next, hidden: sizeOf(tree, hides) });
    // What is pushed last comes first.
    const [straight, ...branches] = (tree.following[turn] ?? []).slice(hides.length).reverse();
    if (straight !== undefined) coming.push({ turn: straight, depth, begins: false });
    for (const branch of branches) coming.push({ turn: branch, depth: depth + 1, begins: true });
  }
  return rows;
};

/** What a fold at a turn hides: of the first of a branch all behind it, of others the branches at it. */
export const foldable = ({ following }: TurnTree, { turn, begins }: Omit<TreeRow, "hidden">): readonly number[] =>
  following[turn]?.slice(0, begins ? undefined : -1) ?? [];

/** How many turns these are, with all that descend from them. */
const sizeOf = ({ following }: TurnTree, turns: readonly number[]): number => {
  const all = [...turns];
  for (const turn of all) all.push(...(following[turn] ?? []));
  return all.length;
};
