import { turnsOf } from "../conversation/read/turns.ts";
import type { State } from "../conversation/protocol/data.ts";

/** A turn in the tree, and the place of its row. */
export interface TreeRow {
  /** 0 is the beginning. */
  readonly turn: number;
  /** The number of branches that contain it; 0 on the way to the head. */
  readonly depth: number;
  /** True if a branch begins with it. */
  readonly begins: boolean;
  /** The number of turns that are folded away at it. */
  readonly hidden: number;
}

/** The tree of turns, and the turns on the path. */
export interface TurnTree {
  /**
   * The turns that follow each turn, by its number, in the order of rows: the turn that continues straight is last.
   */
  readonly following: readonly (readonly number[])[];
  readonly path: ReadonlySet<number>;
}

/** Returns the tree of the turns, including the open one. Reads each once. */
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
  // The turn that continues the path (or else the newest branch) is not drawn as a branch.
  for (const numbers of following) numbers.sort((one, other) => Number(path.has(one)) - Number(path.has(other)));
  return { following, path };
};

/**
 * Returns the rows of a tree from the top: each branch below the turn that it leaves, then the straight continuation.
 */
export const treeRows = (tree: TurnTree, folded: ReadonlySet<number>): readonly TreeRow[] => {
  const rows: TreeRow[] = [];
  const coming: Omit<TreeRow, "hidden">[] = [{ turn: 0, depth: 0, begins: false }];
  for (let next = coming.pop(); next !== undefined; next = coming.pop()) {
    const { turn, depth } = next;
    const hides = folded.has(turn) ? foldable(tree, next) : [];
    rows.push({ ...next, hidden: sizeOf(tree, hides) });
    // The last pushed turn comes first.
    const [straight, ...branches] = (tree.following[turn] ?? []).slice(hides.length).reverse();
    if (straight !== undefined) coming.push({ turn: straight, depth, begins: false });
    for (const branch of branches) coming.push({ turn: branch, depth: depth + 1, begins: true });
  }
  return rows;
};

/**
 * Returns the turns that a fold hides. At the first turn of a branch these are all turns after it; at others, the
 * branches there.
 */
export const foldable = ({ following }: TurnTree, { turn, begins }: Omit<TreeRow, "hidden">): readonly number[] =>
  following[turn]?.slice(0, begins ? undefined : -1) ?? [];

/** Returns the number of these turns and all their descendants. */
const sizeOf = ({ following }: TurnTree, turns: readonly number[]): number => {
  const all = [...turns];
  for (const turn of all) all.push(...(following[turn] ?? []));
  return all.length;
};
