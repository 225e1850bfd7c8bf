import { setImmediate } from "node:timers/promises";

import { checkedSearch, excerptOf, textOfEntry } from "@colloquy/host/store";
import type { SearchHit, Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { pageOf } from "../pages.ts";
import { attempt, type Connection } from "./connection.ts";
import { entryOf } from "./entry-body.ts";
import { seqsPerThread } from "./schema.ts";
import type { SearchIndex } from "./search-index.ts";

/** Creates a search by the index: newest thread first, and within a thread newest entry first. */
export const sqliteSearch = (connection: Connection, index: SearchIndex): NonNullable<Store["search"]> => {
  const { database } = connection;
  const number = database.prepare("SELECT id FROM threads WHERE thread = ?");
  return async (text, options = {}) => {
    const { words, limit } = checkedSearch(text, options);
    const { threadId, after } = options;
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : placeOf(after);
    if (words.length === 0) return { hits: [], next: null };
    await index.catchUp(threadId, setImmediate);
    return attempt(connection, () => {
      // The cast names the column of the statement; the driver types a row as any record. So below.
      const only = threadId === undefined ? null : (number.get(threadId) as { readonly id: number } | undefined)?.id;
      if (only === undefined) return { hits: [], next: null };
      const [first, last] =
        only === null ? [0, before - 1] : [only * seqsPerThread, Math.min(before, (only + 1) * seqsPerThread) - 1];
      // The cast names the columns of the statement, which come from STRICT tables; the driver types a row as any
      // record.
      const rows = database.prepare(found).all(inQuery(words), first, last, limit + 1) as unknown as readonly HitRow[];
      const [page, next] = pageOf(rows, limit, ({ place }) => String(place));
      return { hits: page.map((row) => hitOf(connection, row, words)), next };
    });
  };
};

interface HitRow {
  readonly place: number;
  readonly threadId: string;
  readonly body: string;
}

const found = `SELECT place, thread AS threadId, body
  FROM said CROSS JOIN entries ON place = said.rowid CROSS JOIN threads ON id = place / ${seqsPerThread}
  WHERE said MATCH ? AND said.rowid BETWEEN ? AND ? ORDER BY said.rowid DESC LIMIT ?`;

/** Builds a query for all words. Each is quoted, so that it cannot contain an operator. */
const inQuery = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(" ");

const placeOf = (cursor: string): number => {
  const place = /^\d+$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (Number.isSafeInteger(place)) return place;
  throw new RangeError(`search: after is ${JSON.stringify(cursor)}; it must be the next of a page that was found`);
};

const hitOf = (connection: Connection, { place, threadId, body }: HitRow, words: readonly string[]): SearchHit => {
  const seq = place % seqsPerThread;
  // The cast is safe: the index found words in this entry.
  const entry = entryOf(connection, threadId, seq, body) as Entry;
  return { threadId, seq, at: entry.event.at, excerpt: excerptOf(textOfEntry(entry), words) };
};
