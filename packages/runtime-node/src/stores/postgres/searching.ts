import { checkedSearch, excerptOf, textOfEntry } from "@colloquy/host/store";
import type { SearchHit, SearchOptions, SearchPage } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import type { Connection } from "./connection.ts";
import { indexed } from "./entry-rows.ts";
import { pageOf } from "../pages.ts";
import { toStorable } from "../storable-text.ts";
import { parseStored } from "../stored-json.ts";

/** Entries that have all the words, newest thread first, and in it the newest entry. Throws a `RangeError` for invalid options. */
export const search = async (
  connection: Connection,
  text: string,
  options: SearchOptions = {},
): Promise<SearchPage> => {
  const { query, schema } = connection;
  const { words, limit } = checkedSearch(text, options);
  const { threadId = null, after } = options;
  const place = after === undefined ? fromTheStart : placeOf(after);
  if (words.length === 0) return { hits: [], next: null };
  const rows = await query<HitRow>(
    `SELECT number, threads.thread, seq, at, body
     FROM ${schema}.words JOIN ${schema}.entries USING (thread, seq) JOIN ${schema}.threads ON number = words.thread
     WHERE words @> $1 AND (words.thread, seq) < ($2::bigint, $3) AND ($4::text IS NULL OR threads.thread = $4)
     ORDER BY words.thread DESC, seq DESC LIMIT $5`,
    [words.map(indexed), ...place, threadId === null ? null : toStorable(threadId), limit + 1],
  );
  const [page, next] = pageOf(rows, limit, ({ number, seq }) => JSON.stringify([number, seq]));
  return { hits: page.map((row) => hitOf(connection, row, words)), next };
};

interface HitRow {
  /** The thread's: a bigint, which the driver gives as text. */
  readonly number: string;
  readonly thread: string;
  readonly seq: number;
  readonly at: number;
  readonly body: string;
}

type Place = readonly [number: string, seq: number];

const fromTheStart: Place = [String(2n ** 63n - 1n), 0];

const placeOf = (cursor: string): Place => {
  try {
    const place: unknown = JSON.parse(cursor);
    if (Array.isArray(place) && /^\d{1,18}$/.test(String(place[0])) && isSeq(place[1]))
      return [String(place[0]), Number(place[1])];
  } catch {}
  throw new RangeError(`search: after is ${JSON.stringify(cursor)}; it must be the next of a page that was found`);
};

const isSeq = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31;

const hitOf = (connection: Connection, { thread, seq, at, body }: HitRow, words: readonly string[]): SearchHit => {
  // What `append` stored.
  const entry = parseStored(connection.name, body, `entry ${seq} of thread "${thread}"`) as Entry;
  return { threadId: thread, seq, at, excerpt: excerptOf(textOfEntry(entry), words) };
};
