import { checkedSearch, excerptOf, parseStored, textOfEntry } from "@colloquy/host/store";
import type { SearchHit, SearchOptions, SearchPage } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import type { Connection } from "./connection.ts";
import { indexed } from "./entry-rows.ts";
import { pageOf } from "../pages.ts";
import { toStorable } from "../servers.ts";

/** Finds entries with all the words, newest thread and entry first. Throws a `RangeError` for invalid options. */
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
  const within = threadId === null ? "" : `AND thread = (SELECT number FROM ${schema}.threads WHERE thread = $5)`;
  const rows = await query<HitRow>(foundIn(schema, within), [
    words.map(indexed),
    ...place,
    limit + 1,
    ...(threadId === null ? [] : [toStorable(threadId)]),
  ]);
  const [page, next] = pageOf(rows, limit, ({ number, seq }) => JSON.stringify([number, seq]));
  return { hits: page.map((row) => hitOf(connection, row, words)), next };
};

/**
 * Selects entries by words. It first scans the newest entries, where a common word is found at once. If too few are
 * found there, the word is rare, and its index finds it. The server cannot choose between the two, since it keeps no
 * statistics of conversations. By itself it scanned all entries for a word that only one has (1,000 ms among 600,000
 * entries; this way 10 ms, as for a common word).
 */
const foundIn = (schema: string, within: string): string =>
  `WITH newest AS (
     SELECT thread, seq, words FROM ${schema}.words WHERE (thread, seq) < ($2::bigint, $3) ${within}
     ORDER BY thread DESC, seq DESC LIMIT ${newestMax}
   ), common AS MATERIALIZED (
     SELECT thread, seq FROM newest WHERE words @> $1 ORDER BY thread DESC, seq DESC LIMIT $4
   ), rare AS MATERIALIZED (
     SELECT thread, seq FROM ${schema}.words
     WHERE (SELECT count(*) FROM common) < $4 AND words @> $1 AND (thread, seq) < ($2::bigint, $3) ${within}
   ), found AS (
     SELECT thread, seq FROM common WHERE (SELECT count(*) FROM common) = $4
     UNION ALL (SELECT thread, seq FROM rare ORDER BY thread DESC, seq DESC LIMIT $4)
   )
   SELECT number, threads.thread, entries.seq, at, body
   FROM found JOIN ${schema}.entries ON entries.thread = found.thread AND entries.seq = found.seq
     JOIN ${schema}.threads ON number = found.thread
   ORDER BY found.thread DESC, found.seq DESC`;

/** The number of entries to scan, which takes some milliseconds. */
const newestMax = 5_000;

interface HitRow {
  /** The thread's number: a bigint, which the driver returns as text. */
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
  // `append` stored it.
  const entry = parseStored(connection.name, body, `entry ${seq} of thread "${thread}"`) as Entry;
  return { threadId: thread, seq, at, excerpt: excerptOf(textOfEntry(entry), words) };
};
