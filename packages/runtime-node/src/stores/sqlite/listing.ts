import type { StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers/promises";

import { checkedListing, comparePlaces, cursorOf, isListed, type ListingPlace } from "@colloquy/host/store";
import type { ListOptions, Store, StoredThread, ThreadPage } from "@colloquy/host";

import { pageOf } from "../pages.ts";
import { metadataOf } from "../stored-json.ts";
import { attempt, type Connection } from "./connection.ts";
import { newestSeq, seqsPerThread } from "./schema.ts";

/** Goes through the index of threads by the time of their making, and leaves out those that are not wanted. */
export const sqliteListing = (
  connection: Connection,
  journals: Pick<Store, "read">,
): ((options?: ListOptions) => Promise<ThreadPage>) => {
  const read = (order: string, from: string, until: string): StatementSync =>
    connection.database.prepare(
      `SELECT thread AS threadId, created_at AS createdAt, metadata, place % ${seqsPerThread} AS seq, body
       FROM threads CROSS JOIN entries ON place = id * ${seqsPerThread} + ${newestSeq}
       WHERE (created_at, thread) ${from} (?, ?) AND created_at ${until} ?
       ORDER BY created_at ${order}, thread ${order} LIMIT ?`,
    );
  const statements = { oldest: read("ASC", ">=", "<"), newest: read("DESC", "<", ">=") };
  return async (options = {}) => {
    const { order, limit, after } = checkedListing(options);
    const { metadata, updated, created: { from = -Infinity, until = Infinity } = {} } = options;
    const isFiltered = metadata !== undefined || updated !== undefined;
    const [begin, end] = order === "oldest" ? [from, until] : [until, from];
    const found: StoredThread[] = [];
    let place = farther(order, { createdAt: begin, threadId: "" }, after);
    for (;;) {
      const wanted = isFiltered ? batch : Math.min(limit + 1 - found.length, batch);
      const rows = attempt(connection, () =>
        // The columns that the statement names, of STRICT tables; the driver types a row as any record.
        statements[order].all(place.createdAt, place.threadId, end, wanted),
      ) as unknown as readonly ThreadRow[];
      const threads = await Promise.all(rows.map((row) => threadOf(row, journals)));
      found.push(...threads.filter((thread) => isListed(thread, options)));
      const last = rows.at(-1);
      if (last === undefined || rows.length < wanted || found.length > limit) break;
      place = farther(order, place, last);
      // A search for few among many must not keep other work waiting.
      await setImmediate();
    }
    const [threads, next] = pageOf(found, limit, cursorOf);
    return { threads, next };
  };
};

/** The place from which a page goes on: the one after `last`, unless it begins later. */
const farther = (order: "oldest" | "newest", begin: ListingPlace, last: ListingPlace | null): ListingPlace => {
  if (last === null) return begin;
  if (order === "newest") return comparePlaces(last, begin) < 0 ? last : begin;
  // The next text there can be: oldest first includes where it begins, newest first does not.
  const next = { createdAt: last.createdAt, threadId: `${last.threadId}\0` };
  return comparePlaces(next, begin) > 0 ? next : begin;
};

interface ThreadRow {
  readonly threadId: string;
  readonly createdAt: number;
  readonly metadata: string;
  readonly seq: number;
  readonly body: string;
}

/** At once; so many take about a millisecond. */
const batch = 512;

const threadOf = async (
  { body, metadata, ...row }: ThreadRow,
  journals: Pick<Store, "read">,
): Promise<StoredThread> => ({
  ...row,
  updatedAt: timeIn(body) ?? row.createdAt,
  metadata: await metadataOf(metadata, () => journals.read(row.threadId)),
});

/** Undefined where the body is damaged: a reader of the thread gets the error, and the others are listed all the same. */
const timeIn = (body: string): number | undefined => {
  try {
    const entry = JSON.parse(body) as { readonly at?: unknown; readonly event?: { readonly at?: unknown } } | null;
    const at = entry?.at ?? entry?.event?.at;
    return typeof at === "number" ? at : undefined;
  } catch {
    return undefined;
  }
};
