import { type State, turnNumbered } from "@colloquy/machine";
import { type Item, placeOfItem } from "../items/item.ts";
import { itemsOfTurn, type SaidTurn, saidIn } from "../items/turn-items.ts";

/** Which items of a conversation are wanted. */
export interface ItemRange {
  /** The item before the first. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/** Items of the path, at most `limit`, and whether there are more; null where `after` is none of them. Reads no turn but those of the page. */
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

/** The items of the turns of the path behind a number, oldest first. */
export const itemsBehind = (state: State, turn: number): readonly Item[] => {
  const numbers: number[] = [];
  for (const number of numbersOnPath(state, "desc")) {
    if (number <= turn) break;
    numbers.unshift(number);
  }
  return numbers.flatMap((number) => itemsNumbered(state, number));
};

/** The number of the newest turn that there ever was, or of that which is to come where messages wait for it. */
export const newestNumber = (state: State): number =>
  hasMore(state) ? numberToCome(state) : state.context.conversation.turns.length;

/** The same of the path: 0 at its beginning. */
export const newestOnPath = (state: State): number =>
  hasMore(state) ? numberToCome(state) : state.context.conversation.head;

/** An item of the path by its id; null where there is none, or it was taken back. */
export const itemIn = (state: State, id: string): Item | null => {
  const turn = placeOfItem(id)?.turn;
  if (turn === undefined || !isOnPath(state, turn)) return null;
  return itemsNumbered(state, turn).find((item) => item.id === id) ?? null;
};

/** The numbers of the turns of the path, 0 for its seed and that which is open or to come included. */
function* numbersOnPath(state: State, order: "asc" | "desc"): Generator<number, void, void> {
  const runs = [numberToCome(state), ...runsOf(state), 0].map((run) =>
    typeof run === "number" ? ([run, run] as const) : run,
  );
  for (const [first, last] of order === "asc" ? runs.toReversed() : runs)
    for (let index = 0; index <= last - first; index++) yield order === "asc" ? first + index : last - index;
}

/** A turn of the path as its items are read from: what waits for the next turn as that turn, which it will lead. */
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

/** The path as turns whose numbers follow one another, newest first: a step for each branch, not for each turn. */
const runsOf = (state: State): readonly (readonly [first: number, last: number])[] => {
  const runs: (readonly [number, number])[] = [];
  for (let last = state.context.conversation.head; last > 0;) {
    const first = turnNumbered(state, last)?.place.straightFrom ?? last;
    runs.push([first, last]);
    last = turnNumbered(state, first)?.parent ?? 0;
  }
  return runs;
};
