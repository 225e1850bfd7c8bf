import { checkedListing, cursorOf, listedMetadata } from "@colloquy/host/store";
import type { ListOptions, StoredThread, ThreadPage, TimeRange } from "@colloquy/host";

import { pageOf } from "../pages.ts";
import type { Connection } from "./connection.ts";
import { membersOf } from "./entry-rows.ts";

/** Returns a page of threads, by the index of their creation times. Throws a `RangeError` for invalid options. */
export const list = async (connection: Connection, read: Read, options: ListOptions = {}): Promise<ThreadPage> => {
  const { query, schema } = connection;
  const { order, limit, after } = checkedListing(options);
  const { metadata, created, updated } = options;
  const [beyond, direction, start] = order === "oldest" ? [">", "ASC", -Infinity] : ["<", "DESC", Infinity];
  const along = `ORDER BY created_at ${direction}, thread ${direction}`;
  const range = `(created_at, thread) ${beyond} ($1, $2) AND created_at >= $4 AND created_at < $5`;
  const listed = metadata === undefined ? anyThread : threadsOf;
  const rows = await query<ThreadRow>(listed(schema, range, along), [
    after?.createdAt ?? start,
    after?.threadId ?? "",
    membersOf(metadata ?? {}),
    ...rangeOf(created),
    ...rangeOf(updated),
    limit + 1,
  ]);
  const found = await Promise.all(rows.map((row) => threadOf(row, read)));
  const [threads, next] = pageOf(found, limit, cursorOf);
  return { threads, next };
};

/** Selects threads together with their newest entry, if its time is in the range. */
const withNewest = (schema: string, threads: string): string =>
  `SELECT listed.*, newest.seq, newest.at FROM ${threads} AS listed CROSS JOIN LATERAL (
     SELECT seq, at FROM ${schema}.entries WHERE entries.thread = number ORDER BY seq DESC LIMIT 1
   ) AS newest
   WHERE newest.at >= $6 AND newest.at < $7`;

const columns = `number, thread, created_at, metadata, members`;

const anyThread = (schema: string, range: string, along: string): string =>
  `SELECT thread, created_at AS "createdAt", metadata, seq, at FROM (
     ${withNewest(schema, `(SELECT ${columns} FROM ${schema}.threads WHERE ${range} AND members @> $3)`)} ${along} LIMIT $8
   ) AS page`;

/**
 * Selects threads by metadata. It first scans the start of the range, where common metadata is found at once. If too
 * few are found there, the metadata is rare, and its index finds it. The server cannot choose between the two, since it
 * keeps no statistics of conversations. By itself it scanned all threads for rare metadata, such as a user's id.
 */
const threadsOf = (schema: string, range: string, along: string): string =>
  `WITH first AS (
     SELECT ${columns} FROM ${schema}.threads WHERE ${range} ${along} LIMIT ${firstMax}
   ), common AS MATERIALIZED (
     ${withNewest(schema, "(SELECT * FROM first WHERE members @> $3)")} ${along} LIMIT $8
   ), rare AS MATERIALIZED (
     SELECT ${columns} FROM ${schema}.threads
     WHERE (SELECT count(*) FROM common) < $8 AND members @> $3 AND ${range}
   ), found AS (
     SELECT * FROM common WHERE (SELECT count(*) FROM common) = $8
     UNION ALL (${withNewest(schema, "rare")} ${along} LIMIT $8)
   )
   SELECT thread, created_at AS "createdAt", metadata, seq, at FROM found ${along}`;

/** The number of threads to scan, which takes some milliseconds. */
const firstMax = 5_000;

interface ThreadRow {
  readonly thread: string;
  readonly createdAt: number;
  readonly metadata: string;
  readonly seq: number;
  readonly at: number;
}

const rangeOf = ({ from = -Infinity, until = Infinity }: TimeRange = {}): readonly [number, number] => [from, until];

/** Reads a journal, to repair a listed row that is invalid. */
type Read = (threadId: string) => Promise<readonly unknown[]>;

const threadOf = async ({ thread, createdAt, metadata, seq, at }: ThreadRow, read: Read): Promise<StoredThread> => ({
  threadId: thread,
  seq,
  createdAt,
  updatedAt: at,
  metadata: await listedMetadata(metadata, () => read(thread)),
});
