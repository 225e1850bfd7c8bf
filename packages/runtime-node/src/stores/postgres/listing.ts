import { checkedListing, cursorOf } from "@colloquy/host/store";
import type { ListOptions, StoredThread, ThreadPage, TimeRange } from "@colloquy/host";

import { pageOf } from "../pages.ts";
import { metadataOf } from "../stored-json.ts";
import type { Connection } from "./connection.ts";
import { membersOf } from "./entry-rows.ts";

/** A page of threads, along the index of their times. Throws a `RangeError` for invalid options. */
export const list = async (connection: Connection, read: Read, options: ListOptions = {}): Promise<ThreadPage> => {
  const { query, schema } = connection;
  const { order, limit, after } = checkedListing(options);
  const { metadata = {}, created, updated } = options;
  const [beyond, direction, start] = order === "oldest" ? [">", "ASC", -Infinity] : ["<", "DESC", Infinity];
  const rows = await query<ThreadRow>(
    `SELECT threads.thread, created_at AS "createdAt", metadata, newest.seq, newest.at
     FROM ${schema}.threads CROSS JOIN LATERAL (
       SELECT seq, at FROM ${schema}.entries WHERE entries.thread = number ORDER BY seq DESC LIMIT 1
     ) AS newest
     WHERE (created_at, threads.thread) ${beyond} ($1, $2) AND members @> $3
       AND created_at >= $4 AND created_at < $5 AND newest.at >= $6 AND newest.at < $7
     ORDER BY created_at ${direction}, threads.thread ${direction} LIMIT $8`,
    [
      after?.createdAt ?? start,
      after?.threadId ?? "",
      membersOf(metadata),
      ...rangeOf(created),
      ...rangeOf(updated),
      limit + 1,
    ],
  );
  const found = await Promise.all(rows.map((row) => threadOf(row, read)));
  const [threads, next] = pageOf(found, limit, cursorOf);
  return { threads, next };
};

interface ThreadRow {
  readonly thread: string;
  readonly createdAt: number;
  readonly metadata: string;
  readonly seq: number;
  readonly at: number;
}

const rangeOf = ({ from = -Infinity, until = Infinity }: TimeRange = {}): readonly [number, number] => [from, until];

/** A journal, for what is not right in the row of its thread. */
type Read = (threadId: string) => Promise<readonly unknown[]>;

const threadOf = async ({ thread, createdAt, metadata, seq, at }: ThreadRow, read: Read): Promise<StoredThread> => ({
  threadId: thread,
  seq,
  createdAt,
  updatedAt: at,
  metadata: await metadataOf(metadata, () => read(thread)),
});
