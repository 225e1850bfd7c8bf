import { type State, turnNumbered } from "@colloquy/machine";
import { type Item, placeOfItem } from "../items/item.ts";
import { itemsOfTurn, type SaidTurn, saidIn } from "../items/turn-items.ts";

/** The requested items of a conversation. */
export interface ItemRange {
  /** The id of the item before the page. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/**
 * Returns at most `limit` items of the path, and whether there are more; null if `after` is not on the path. Reads only
 * the turns of the page.
 */
export const itemsIn = (
  state: State,
  { after, limit, order }: ItemRange,
): { readonly items: readonly Item[]; readonly hasMore: boolean } | null => {
  const from = after === undefined ? null : placeOfItem(after)?.turn;
  if (from === undefined) return null;
  const items: Item[] = [];
  let isBehind = from === null;
  for (const number of numbersOnPath(state, order)) {
    if (!isBehind && number !== from) continue;
    const said = itemsNumbered(state, number);
    const ordered = order === "asc" ? said : said.toReversed();
    const first = isBehind ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
    if (!isBehind && first === 0) return null;
    isBehind = true;
    items.push(...ordered.slice(first));
    if (items.length > limit) break;
  }
  return isBehind ? { items: items.slice(0, limit), hasMore: items.length > limit } : null;
};

/** Returns the items of the turns after a number on the path, oldest first. */
export const itemsBehind = (state: State, turn: number): readonly Item[] => {
  const numbers: number[] = [];
  for (const number of numbersOnPath(state, "desc")) {
    if (number <= turn) break;
    numbers.unshift(number);
  }
  return numbers.flatMap((number) => itemsNumbered(state, number));
};

/** Returns the number of the newest turn of all, or of the next turn if messages wait for it. */
export const newestNumber = (state: State): number =>
  hasMore(state) ? numberToCome(state) : state.context.conversation.turns.length;

/** Returns the same for the path; 0 for an empty path. */
export const newestOnPath = (state: State): number =>
  hasMore(state) ? numberToCome(state) : state.context.conversation.head;

/** Returns an item of the path by its id; null if there is none or it was taken back. */
export const itemIn = (state: State, id: string): Item | null => {
  const turn = placeOfItem(id)?.turn;
  if (turn === undefined || !isOnPath(state, turn)) return null;
  return itemsNumbered(state, turn).find((item) => item.id === id) ?? null;
};

/** Yields the numbers of the turns on the path, with 0 for the seed and the number of the open or next turn. */
function* numbersOnPath(state: State, order: "asc" | "desc"): Generator<number, void, void> {
  const runs = [numberToCome(state), ...runsOf(state), 0].map((run) =>
    typeof run === "number" ? ([run, run] as const) : run,
  );
  for (const [first, last] of order === "asc" ? runs.toReversed() : runs)
    for (let index = 0; index <= last - first; index++) yield order === "asc" ? first + index : last - index;
}

/** Returns a turn of the path. Messages that wait for the next turn are returned as that turn, which they will open. */
export const saidOnPath = (state: State, number: number): SaidTurn | null => {
  const { threadId, conversation, open } = state.context;
  if (open !== null || number !== numberToCome(state)) return saidIn(state, number);
  return { threadId, number, messages: conversation.appended, answer: null, steps: 0, callerTools: new Set() };
};

const itemsNumbered = (state: State, number: number): readonly Item[] => {
  const said = saidOnPath(state, number);
  return said === null ? [] : itemsOfTurn(said);
};

const isOnPath = (state: State, number: number): boolean =>
  number === 0 ||
  number === numberToCome(state) ||
  runsOf(state).some(([first, last]) => number >= first && number <= last);

const hasMore = ({ context: { conversation, open } }: State): boolean =>
  open !== null || conversation.appended.length > 0;

const numberToCome = ({ context: { conversation, open } }: State): number =>
  open?.number ?? conversation.turns.length + 1;

/**
 * Returns the path as runs of consecutive turn numbers, newest first. It needs one step for each branch, not for each
 * turn.
 */
const runsOf = (state: State): readonly (readonly [first: number, last: number])[] => {
  const runs: (readonly [number, number])[] = [];
  for (let last = state.context.conversation.head; last > 0;) {
    const first = turnNumbered(state, last)?.place.straightFrom ?? last;
    runs.push([first, last]);
    last = turnNumbered(state, first)?.parent ?? 0;
  }
  return runs;
};
