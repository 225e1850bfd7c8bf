import { setImmediate } from "node:timers/promises";

import {
  checkedListing,
  comparePlaces,
  cursorOf,
  isListed,
  type ListingPlace,
  listedMetadata,
} from "@colloquy/host/store";
import type { ListOptions, Store, StoredThread, ThreadPage } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";

import { pageOf } from "../pages.ts";
import { type Connection, query, reading } from "./connection.ts";
import { newestSeq, seqsPerThread } from "./schema.ts";

/** Creates a listing that scans the index of creation times and filters the threads. */
export const sqliteListing = (
  connection: Connection,
  journals: Pick<Store, "read">,
): ((options?: ListOptions) => Promise<ThreadPage>) => {
  const statements = { oldest: statementsOf(connection, "ASC"), newest: statementsOf(connection, "DESC") };
  return async (options = {}) => {
    const { order, limit, after } = checkedListing(options);
    const { metadata, updated, created: { from = -Infinity, until = Infinity } = {} } = options;
    const isFiltered = metadata !== undefined || updated !== undefined;
    const said = textIn(metadata);
    const [begin, end] = order === "oldest" ? [from, until] : [until, from];
    const found: StoredThread[] = [];
    let place = farther(order, { createdAt: begin, threadId: "" }, after);
    for (;;) {
      const { createdAt, threadId } = place;
      const looked = said !== "" ? sifted : isFiltered ? batch : Math.min(limit + 1 - found.length, batch);
      const { last, rows } = reading(connection, () => ({
        last: statements[order].last.get(createdAt, threadId, end, looked - 1),
        rows: statements[order].threads.all(createdAt, threadId, end, looked, said),
      }));
      const threads = await Promise.all(rows.map((row) => threadOf(row, journals)));
      found.push(...threads.filter((thread) => isListed(thread, options)));
      if (last === undefined || found.length > limit) break;
      place = farther(order, place, last);
      // A search for rare threads must not block other work.
      await setImmediate();
    }
    const [threads, next] = pageOf(found, limit, cursorOf);
    return { threads, next };
  };
};

/** Prepares queries for a number of threads from a place on, and for the last of them. */
const statementsOf = ({ database }: Connection, direction: "ASC" | "DESC") => {
  const [from, until] = direction === "ASC" ? [">=", "<"] : ["<", ">="];
  const range = `WHERE (created_at, thread) ${from} (?, ?) AND created_at ${until} ?
    ORDER BY created_at ${direction}, thread ${direction} LIMIT`;
  // Rows with damaged metadata pass, since the journal has their metadata.
  const threads = query<ThreadRow>(
    database,
    `SELECT thread AS threadId, created_at AS createdAt, metadata, place % ${seqsPerThread} AS seq, body
     FROM (SELECT id, thread, created_at, metadata FROM threads ${range} ?) AS looked
       CROSS JOIN entries ON place = id * ${seqsPerThread} + ${newestSeq}
     WHERE instr(metadata, ?) > 0 OR NOT json_valid(metadata) OR json_type(metadata) <> 'object'
     ORDER BY created_at ${direction}, thread ${direction}`,
  );
  const last = query<ListingPlace>(
    database,
    `SELECT thread AS threadId, created_at AS createdAt FROM threads ${range} 1 OFFSET ?`,
  );
  return { threads, last };
};

/**
 * Returns a text that all metadata with these members contains. Searching for it before reading the newest entries
 * takes 3 µs a thread instead of 16 µs. Returns an empty text if none is certain, since members of an object may be in
 * any order.
 */
const textIn = (metadata: JsonObject = {}): string => {
  const texts = Object.entries(metadata)
    .filter(([, value]) => typeof value === "string" || typeof value === "boolean" || Number.isFinite(value))
    .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "");
};

/** Returns the place where the next scan starts: right after `last`, or at `begin` if that is later. */
const farther = (order: "oldest" | "newest", begin: ListingPlace, last: ListingPlace | null): ListingPlace => {
  if (last === null) return begin;
  // The smallest greater text: oldest first includes its start, newest first does not.
  const next = order === "oldest" ? { ...last, threadId: `${last.threadId}\0` } : last;
  const isFarther = order === "oldest" ? comparePlaces(next, begin) > 0 : comparePlaces(next, begin) < 0;
  return isFarther ? next : begin;
};

interface ThreadRow {
  readonly threadId: string;
  readonly createdAt: number;
  readonly metadata: string;
  readonly seq: number;
  readonly body: string;
}

/** The number of threads in one scan, which takes about a millisecond. */
const batch = 512;

/** The number of threads to filter by the text of their metadata, which takes some milliseconds. */
const sifted = 2_048;

const threadOf = async (
  { body, metadata, ...row }: ThreadRow,
  journals: Pick<Store, "read">,
): Promise<StoredThread> => ({
  ...row,
  updatedAt: timeIn(body) ?? row.createdAt,
  metadata: await listedMetadata(metadata, () => journals.read(row.threadId)),
});

/** Reads the time of an entry; returns undefined if it is damaged, so that the listing works. */
const timeIn = (body: string): number | undefined => {
  try {
    const entry = JSON.parse(body) as { readonly at?: unknown; readonly event?: { readonly at?: unknown } } | null;
    const at = entry?.at ?? entry?.event?.at;
    return typeof at === "number" ? at : undefined;
  } catch {
    return undefined;
  }
};
