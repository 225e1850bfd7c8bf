import type { Entry } from "@colloquy/machine";
import { type Call, HttpError } from "@colloquy/server";
import { type ReadThread, UnreadableThreadError } from "../reading/thread-reader.ts";
import type { Page } from "../wire/wire.ts";

export type Reader = (threadId: string) => Promise<ReadThread | null>;

/** Returns the thread that the query names. @throws HttpError 400, 404, 422 */
export const threadIn = async (call: Call, read: Reader, name = "thread"): Promise<ReadThread> => {
  const threadId = textIn(call, name);
  try {
    const thread = (await call.mayUse(threadId)) ? await read(threadId) : null;
    if (thread !== null) return thread;
  } catch (thrown) {
    if (thrown instanceof UnreadableThreadError)
      throw new HttpError(422, `this thread can't be read: ${thrown.message}`);
    throw thrown;
  }
  throw new HttpError(404, "there is no such thread");
};

/** @throws HttpError 400 if it is missing */
export const textIn = ({ url }: Call, name: string): string => {
  const text = url.searchParams.get(name);
  if (text === null || text === "") throw new HttpError(400, `${name} is missing in the query`, { param: name });
  return text;
};

/** Returns an entry of a thread. @throws HttpError 400, 404 */
export const entryIn = (call: Call, { entries }: ReadThread, name = "seq"): Entry => {
  const entry = entries[numberIn(call, name, entries.length - 1)];
  if (entry === undefined)
    throw new HttpError(404, `there are entries 0 to ${entries.length - 1}, and no other`, { param: name });
  return entry;
};

/** Returns the requested part of a list: `limit` items from `from`, by default the first or last ones. @throws HttpError 400 */
export const pageIn = <Item>(call: Call, items: readonly Item[], part: "first" | "last" = "first"): Page<Item> => {
  const limit = Math.min(numberIn(call, "limit", 100), 500);
  const from = numberIn(call, "from", part === "first" ? 0 : Math.max(items.length - limit, 0));
  return { total: items.length, from, items: items.slice(from, from + limit) };
};

/** Makes a response that is not cached, so that the page shows the present state. */
export const answer = (body: object): Response => Response.json(body, { headers: { "cache-control": "no-store" } });

/** @throws HttpError 400 */
export const numberIn = ({ url }: Call, name: string, otherwise: number): number => {
  const text = url.searchParams.get(name);
  if (text === null) return otherwise;
  if (!/^\d{1,15}$/.test(text)) throw new HttpError(400, `${name} must be a whole number, 0 or more`, { param: name });
  return Number(text);
};
