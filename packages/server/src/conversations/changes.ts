import type { HostedThread } from "@colloquy/host";
import { fromResponseItems, type Imported, toResponseItems } from "@colloquy/interchange";
import type { Message, SeedDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { HttpError, withoutRepair } from "../http/http-error.ts";
import type { Item } from "../items/item.ts";
import { itemIn, itemsBehind, itemsIn, newestNumber, newestOnPath, saidOnPath } from "./path-items.ts";

/** Parses items as an imported conversation. @throws HttpError 400 that names the item */
export const conversationOf = (items: readonly unknown[]): Imported => {
  const read = fromResponseItems(items);
  if (Either.isRight(read)) return read.right;
  const { index, reason } = read.left;
  throw new HttpError(400, `items[${index}]: ${withoutRepair(reason)}`, { param: `items[${index}]` });
};

/**
 * Adds items after the head, each exchange as a turn; no model is called. Returns the added items, oldest first; null
 * if there is no such thread.
 */
export const addItems = async (thread: HostedThread, items: readonly unknown[]): Promise<readonly Item[] | null> => {
  const { system, turns } = conversationOf(items);
  const newest = await thread.look(newestNumber);
  if (newest === null) return null;
  const leading =
    system === null ? [] : [typeof system === "string" ? { role: "system" as const, content: system } : system];
  const [first = [], ...others] = turns;
  for (const turn of [[...leading, ...first], ...others]) if (turn.length > 0) await thread.addTurn(turn);
  return thread.look((state) => itemsBehind(state, newest));
};

/**
 * Removes the newest item from the path: undoes its turn, and adds the turn's earlier messages again. An item of a
 * message goes with that message, and a call or a result with its whole round, as neither is valid alone. The undone
 * turn stays in the tree.
 *
 * @returns false if there is no such item. @throws HttpError 400 for an item that is not the newest
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
  if (isOpen) throw new HttpError(400, `a turn of "${thread.id}" is open; nothing was removed`, { code: "busy" });
  if (number === 0) throw new HttpError(400, "the conversation began with this item; nothing was removed");
  if (newest !== id)
    throw new HttpError(400, `only the newest item can be removed, which is "${newest}"; nothing was removed`);
  const [undone] = await thread.undo();
  if (undone?.number !== number) {
    // Another caller added a turn meanwhile.
    await thread.redo();
    throw new HttpError(400, "the conversation went on meanwhile; nothing was removed");
  }
  if (before.length > 0) await thread.addTurn(before);
  return true;
};

/** Returns the messages before the newest message of a turn, or before its round. */
const beforeNewest = (messages: readonly Message[]): readonly SeedDraft[] => {
  const last = messages.findLastIndex(({ role }) => role !== "tool");
  const read = fromResponseItems(toResponseItems(messages.slice(0, last)).value);
  if (Either.isLeft(read)) throw new Error(`messages of a thread can't be read again: ${read.left.reason}`);
  return read.right.turns.flat();
};
