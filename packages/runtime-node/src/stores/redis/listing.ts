import {
  checkedListing,
  cursorOf,
  isListed,
  type ListingPlace,
  listedMetadata,
  parseStored,
} from "@colloquy/host/store";
import type { ListOptions, StoredThread, ThreadPage } from "@colloquy/host";

import { pageOf } from "../pages.ts";
import { refuseUnstorable } from "../store-arguments.ts";
import type { Connection } from "./connection.ts";
import { upperBound, lowerBound, keysOf, listingKey, threadAt, timeAt, timeText } from "./keys.ts";
import { backwards, describe, forwards, read, strike } from "./scripts.ts";

/** Returns a page of threads, by the sorted list of places. Throws a `RangeError` for invalid options. */
export const list = async (connection: Connection, options: ListOptions = {}): Promise<ThreadPage> => {
  const { order, limit, after } = checkedListing(options);
  const found: StoredThread[] = [];
  let from = beginning(order, after, options);
  for (;;) {
    const batch = Math.min(limit + 1 - found.length, batchMax);
    const places = await placesFrom(connection, order, from, options, batch);
    const threads = await Promise.all(places.map((place) => threadOf(connection, place)));
    await forget(
      connection,
      threads.flatMap((thread, index) => (thread === "gone" ? [places[index] ?? ""] : [])),
    );
    found.push(...threads.filter((thread) => typeof thread === "object").filter((thread) => isListed(thread, options)));
    // A shorter batch is the last one.
    const last = places[batch - 1];
    if (found.length > limit || last === undefined) break;
    from = `(${last}`;
  }
  const [threads, next] = pageOf(found, limit, cursorOf);
  return { threads, next };
};

const batchMax = 500;

/** Returns the first bound for Redis: "(" excludes it, "[" includes it. */
const beginning = (order: "newest" | "oldest", after: ListingPlace | null, { created = {} }: ListOptions): string => {
  const { from = -Infinity, until = Infinity } = created;
  if (order === "oldest") return after === null ? `[${timeText(from)}` : `(${upperBound(after)}`;
  return after === null ? `(${timeText(until)}` : `(${lowerBound(after)}`;
};

const placesFrom = async (
  { prefix, run }: Connection,
  order: "newest" | "oldest",
  from: string,
  { created = {} }: ListOptions,
  limit: number,
): Promise<readonly string[]> => {
  const { from: first = -Infinity, until = Infinity } = created;
  const end = order === "oldest" ? `(${timeText(until)}` : `[${timeText(first)}`;
  // The type that the script returns.
  return (await run(
    order === "oldest" ? forwards : backwards,
    [listingKey(prefix)],
    [from, end, limit],
  )) as readonly string[];
};

/** Returns the thread at a place; "gone" if it will never be there again, "absent" if it may still be created. */
const threadOf = async (connection: Connection, place: string): Promise<StoredThread | "gone" | "absent"> => {
  const { threadId, token } = threadAt(place);
  const { prefix, run } = connection;
  // The types that the script returns.
  const [there, , updatedAt, metadata, seq, lease] = (await run(describe, keysOf(prefix, threadId), [])) as readonly [
    string | null,
    unknown,
    string | null,
    string | null,
    number,
    string | null,
  ];
  // The holder of this lease may still append the first entry.
  if (there !== place) return lease === token ? "absent" : "gone";
  return {
    threadId,
    seq,
    createdAt: timeAt(place),
    // A damaged value is not a number.
    updatedAt: Number.isFinite(Number(updatedAt ?? Number.NaN)) ? Number(updatedAt) : timeAt(place),
    metadata: await listedMetadata(metadata ?? "", () => readEntries(connection, threadId, 0)),
  };
};

const forget = async ({ prefix, run }: Connection, places: readonly string[]): Promise<void> => {
  if (places.length > 0) await run(strike, [listingKey(prefix)], places);
};

/** Reads the entries of a thread from a seq on, not decoded. Throws `StorageError`. */
export const readEntries = async (
  { name, prefix, run }: Connection,
  threadId: string,
  fromSeq: number,
): Promise<readonly unknown[]> => {
  refuseUnstorable(name, threadId);
  const first = Math.max(fromSeq, 0);
  // The type that the script returns.
  const bodies = (await run(read, keysOf(prefix, threadId), [first])) as readonly string[];
  return bodies.map((body, index) => parseStored(name, body, `entry ${first + index} of thread "${threadId}"`));
};
