import type { HostedThread } from "@colloquy/host";
import { fromResponseItems, type Imported, toResponseItems } from "@colloquy/interchange";
import { type Message, type SeedDraft, type State, turnNumbered } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { invalid, withoutRepair } from "../http/http-error.ts";
import { type Item, placeOfItem } from "../items/item.ts";
import { itemsOfTurn, type SaidTurn, saidIn, turnOfMessages } from "../items/turn-items.ts";

export interface ItemRange {
  /** The id of the item before the page. */
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: "asc" | "desc";
}

/** Returns a page of the path's items, reading only its turns; null if `after` is not on the path. */
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

/** Returns an item of the path by its id; null if there is none or it was taken back. */
export const itemIn = (state: State, id: string): Item | null => {
  const turn = placeOfItem(id)?.turn;
  if (turn === undefined || !isOnPath(state, turn)) return null;
  return itemsNumbered(state, turn).find((item) => item.id === id) ?? null;
};

/** Parses items as an imported conversation. @throws HttpError 400 that names the item */
export const conversationOf = (items: readonly unknown[]): Imported => {
  const read = fromResponseItems(items);
  if (Either.isRight(read)) return read.right;
  const { index, reason } = read.left;
  throw invalid(`items[${index}]: ${withoutRepair(reason)}`, `items[${index}]`);
};

/** Adds items after the head, each exchange as a turn. Returns the added ones; null for a missing thread. */
export const addItems = async (thread: HostedThread, items: readonly unknown[]): Promise<readonly Item[] | null> => {
  const { system, turns } = conversationOf(items);
  const before = await thread.look((state) => {
    const { open, conversation } = state.context;
    // An open turn may have ended when the first turn is added.
    if (open !== null) return { turns: open.number, waiting: 0 };
    return { turns: conversation.turns.length, waiting: itemsNumbered(state, numberToCome(state)).length };
  });
  if (before === null) return null;
  const leading =
    system === null ? [] : [typeof system === "string" ? { role: "system" as const, content: system } : system];
  const [first = [], ...others] = turns;
  for (const turn of [[...leading, ...first], ...others]) if (turn.length > 0) await thread.addTurn(turn);
  // Messages that waited for a turn lead the first one that is added.
  return thread.look((state) => itemsBehind(state, before.turns).slice(before.waiting));
};

/**
 * Removes the newest item from the path: undoes its turn, and adds the turn's earlier messages again. An item of a
 * message goes with that message, and a call or a result with its whole round, as neither is valid alone. The undone
 * turn stays in the tree.
 *
 * @returns false if the item does not exist. @throws HttpError 400 for an item that is not the newest
 */
export const takeBack = async (thread: HostedThread, id: string): Promise<boolean> => {
  const found = await thread.look((state) => {
    if (itemIn(state, id) === null) return null;
    const newest = itemsIn(state, { limit: 1, order: "desc" })?.items[0]?.id;
    const { open } = state.context;
    const number = newestOnPath(state);
    return { newest, isOpen: open !== null, number, before: beforeNewest(saidOnPath(state, number)?.messages ?? []) };
  });
  if (found === null) return false;
  const { newest, isOpen, number, before } = found;
  if (isOpen) throw invalid(`a turn of "${thread.id}" is open; nothing was removed`, null, "busy");
  if (number === 0) throw invalid("the conversation began with this item; nothing was removed");
  if (newest !== id) throw invalid(`only the newest item can be removed, which is "${newest}"; nothing was removed`);
  const [undone] = await thread.undo();
  if (undone?.number !== number) {
    // Another caller added a turn meanwhile.
    await thread.redo();
    throw invalid("the conversation went on meanwhile; nothing was removed");
  }
  if (before.length > 0) await thread.addTurn(before);
  return true;
};

/** Returns the items of the turns after a number on the path, oldest first. */
const itemsBehind = (state: State, turn: number): readonly Item[] => {
  const numbers: number[] = [];
  for (const number of numbersOnPath(state, "desc")) {
    if (number <= turn) break;
    numbers.unshift(number);
  }
  return numbers.flatMap((number) => itemsNumbered(state, number));
};

/** Returns the number of the newest turn on the path, or of the next turn if messages wait for it; 0 for an empty path. */
const newestOnPath = (state: State): number => (hasMore(state) ? numberToCome(state) : state.context.conversation.head);

/** Yields the numbers of the turns on the path, with 0 for the seed and the number of the open or next turn. */
function* numbersOnPath(state: State, order: "asc" | "desc"): Generator<number, void, void> {
  const runs = [numberToCome(state), ...runsOf(state), 0].map((run) =>
    typeof run === "number" ? ([run, run] as const) : run,
  );
  for (const [first, last] of order === "asc" ? runs.toReversed() : runs)
    for (let index = 0; index <= last - first; index++) yield order === "asc" ? first + index : last - index;
}

/** Returns a turn of the path. Messages that wait for the next turn are returned as that turn, which they will open. */
const saidOnPath = (state: State, number: number): SaidTurn | null => {
  const { threadId, conversation, open } = state.context;
  if (open !== null || number !== numberToCome(state)) return saidIn(state, number);
  return turnOfMessages(threadId, number, conversation.appended);
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

/** Returns the path as runs of consecutive turn numbers, newest first: one step for each branch. */
const runsOf = (state: State): readonly (readonly [first: number, last: number])[] => {
  const runs: (readonly [number, number])[] = [];
  for (let last = state.context.conversation.head; last > 0;) {
    const first = turnNumbered(state, last)?.place.straightFrom ?? last;
    runs.push([first, last]);
    last = turnNumbered(state, first)?.parent ?? 0;
  }
  return runs;
};

/** Returns the messages before the newest message of a turn, or before its round. */
const beforeNewest = (messages: readonly Message[]): readonly SeedDraft[] => {
  const last = messages.findLastIndex(({ role }) => role !== "tool");
  const read = fromResponseItems(toResponseItems(messages.slice(0, last)).value);
  if (Either.isLeft(read)) throw new Error(`messages of a thread can't be read again: ${read.left.reason}`);
  return read.right.turns.flat();
};
