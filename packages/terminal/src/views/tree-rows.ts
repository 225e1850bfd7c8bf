import { type State, turnsOf } from "@colloquy/machine";

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
  /** By the number of a turn, how many descend from it. */
  readonly descendants: readonly number[];
  readonly parents: readonly number[];
  readonly path: ReadonlySet<number>;
}

/** The tree of the turns, the open one included. Looks at each once. */
export const turnTree = (
  state: State,
  turns: readonly { readonly number: number; readonly parent: number }[],
): TurnTree => {
  const path = new Set([0, ...turnsOf(state).map(({ number }) => number)]);
  const { open } = state.context;
  if (open !== null) path.add(open.number);
  const parents: number[] = [0];
  const following: number[][] = [[]];
  for (const { number, parent } of turns) {
    parents[number] = parent;
    following[number] = [];
    following[parent]?.push(number);
  }
  // What the path, or else the newest branch, goes on with is no branch.
  for (const numbers of following) {
    const onPath = numbers.findIndex((number) => path.has(number));
    if (onPath >= 0) numbers.push(...numbers.splice(onPath, 1));
  }
  const descendants = parents.map(() => 0);
  // A turn has a higher number than the one before it.
  for (let number = parents.length - 1; number > 0; number--) {
    const parent = parents[number] ?? 0;
    descendants[parent] = (descendants[parent] ?? 0) + (descendants[number] ?? 0) + 1;
  }
  return { following, descendants, parents, path };
};

/** The rows of a tree, top down: each branch beneath the turn that it leaves, and then what goes straight on. */
export const treeRows = (tree: TurnTree, folded: ReadonlySet<number>): readonly TreeRow[] => {
  const rows: TreeRow[] = [];
  const coming: Omit<TreeRow, "hidden">[] = [{ turn: 0, depth: 0, begins: false }];
  for (let next = coming.pop(); next !== undefined; next = coming.pop()) {
    const { turn, depth, begins } = next;
    const following = tree.following[turn] ?? [];
    const straight = following.at(-1);
    const isFolded = folded.has(turn);
    const hides = begins ? following : following.slice(0, -1);
    rows.push({ ...next, hidden: isFolded ? hides.reduce((sum, each) => sum + sizeOf(tree, each), 0) : 0 });
    if (straight !== undefined && !(isFolded && begins)) coming.push({ turn: straight, depth, begins: false });
    if (isFolded) continue;
    for (const branch of following.slice(0, -1).reverse())
      coming.push({ turn: branch, depth: depth + 1, begins: true });
  }
  return rows;
};

/** What a fold at a turn would hide: of the first of a branch all behind it, of others the branches at it. */
export const canFold = (tree: TurnTree, { turn, begins }: TreeRow): boolean =>
  (tree.following[turn]?.length ?? 0) > (begins ? 0 : 1);

/** The turn at which what a turn lies in can be folded: the first of its branch, or the last turn before it with branches. */
export const foldAbove = (tree: TurnTree, rows: readonly TreeRow[], index: number): number => {
  const { depth = 0 } = rows[index] ?? {};
  for (let above = index - 1; above >= 0; above--) {
    const row = rows[above];
    if (row !== undefined && row.depth <= depth && (row.begins || canFold(tree, row))) return above;
  }
  return index;
};

const sizeOf = ({ descendants }: TurnTree, turn: number): number => (descendants[turn] ?? 0) + 1;
