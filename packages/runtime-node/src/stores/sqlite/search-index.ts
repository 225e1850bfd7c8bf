import { textOfEntry, wordsOf, checkedSearch, excerptOf } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";
import { attempt, type Connection, query, writing } from "./connection.ts";
import { entryOf } from "./journals.ts";
import { newestSeq, seqsPerThread } from "./schema.ts";
import { setImmediate } from "node:timers/promises";
import type { SearchHit, Store } from "@colloquy/host";
import { pageOf } from "../pages.ts";

/**
 * An index of the words of each entry, by its place. The first search creates it, and each search updates it from the
 * journals. So an append does not pay for it, and a file that is never searched has none. It keeps the words that it
 * was given, so that exactly these are removed again, whatever version of this package added them.
 */
export interface SearchIndex {
  /** Adds the new entries of a thread, or of all threads. Lets other work run in between. */
  readonly catchUp: (threadId: string | undefined, pause: () => Promise<void>) => Promise<void>;
  /** Within a transaction: updates replaced entries. */
  readonly replace: (thread: number, entries: readonly Entry[]) => void;
  /** Within a transaction: removes the entries between two places. */
  readonly forget: (first: number, last: number) => void;
  /** Erases removed words, which are only marked otherwise. Reads and writes the whole index. */
  readonly purge: () => void;
}

export const searchIndex = (connection: Connection): SearchIndex => {
  const { database } = connection;
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'said'");
  let statements: Statements | undefined;
  // Another process may have created it meanwhile. It is never removed.
  const ifThere = (): Statements | undefined =>
    (statements ??= isThere.get() === undefined ? undefined : prepareStatements(connection));
  const make = (): Statements => {
    writing(connection, () => {
      if (isThere.get() === undefined) database.exec(schema);
    });
    return (statements ??= prepareStatements(connection));
  };
  return {
    catchUp: async (threadId, pause) => {
      const index = attempt(connection, ifThere) ?? make();
      for (let after: number | null = 0; after !== null;) {
        const from: number = after;
        if (attempt(connection, () => index.next(from, threadId)) === undefined) return;
        after = writing(connection, () => takeIn(connection, index, from, threadId));
        await pause();
      }
    },
    replace: (thread, entries) => {
      const index = ifThere();
      if (index === undefined) return;
      const searched = index.searchedTo(thread);
      for (const entry of entries.filter(({ seq }) => seq <= searched)) {
        index.remove(thread * seqsPerThread + entry.seq, thread * seqsPerThread + entry.seq);
        index.add(thread * seqsPerThread + entry.seq, wordsIn(entry));
      }
    },
    purge: () => {
      if (ifThere() !== undefined) database.exec("INSERT INTO said (said) VALUES ('optimize')");
    },
    forget: (first, last) => ifThere()?.remove(first, last),
  };
};

/**
 * The words are normalised and distinct already, so that no tokenizer has to split them and no positions are kept. The
 * `secure-delete` option of FTS5 would take seconds for a long thread.
 */
const schema = `CREATE VIRTUAL TABLE said USING fts5 (words, columnsize = 0, detail = none, tokenize = ascii);
  CREATE INDEX threads_unsearched ON threads (id) WHERE unsearched = 1;`;

type Statements = ReturnType<typeof prepareStatements>;

const prepareStatements = ({ database }: Connection) => {
  // A thread with a lease remains among them, but is skipped while it has no new entries.
  const fresh = `unsearched = 1 AND (${newestSeq} > searched OR thread NOT IN (SELECT thread FROM leases))`;
  const nextIn = (named: string) =>
    query<FreshThread>(
      database,
      `SELECT id, thread AS threadId, searched FROM threads WHERE ${fresh} AND id > ? ${named}`,
    );
  const [nextOfAll, nextNamed] = [nextIn("ORDER BY id LIMIT 1"), nextIn("AND thread = ?")];
  const searchedTo = query<{ readonly searched: number }>(database, "SELECT searched FROM threads WHERE id = ?");
  const entries = query<{ readonly seq: number; readonly body: string }>(
    database,
    `SELECT place % ${seqsPerThread} AS seq, body FROM entries WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?`,
  );
  const add = database.prepare("INSERT INTO said (rowid, words) VALUES (?, ?)");
  const remove = database.prepare("DELETE FROM said WHERE rowid BETWEEN ? AND ?");
  const searched = database.prepare(
    `UPDATE threads SET searched = ?, unsearched = ? = 0 OR thread IN (SELECT thread FROM leases)
     WHERE id = ?`,
  );
  return {
    /** Returns the first thread after this one that may have new entries, of all threads or only the named one. */
    next: (after: number, threadId: string | undefined): FreshThread | undefined =>
      threadId === undefined ? nextOfAll.get(after) : nextNamed.get(after, threadId),
    /** Returns the seq of the newest indexed entry of a thread; -1 if it has none. */
    searchedTo: (id: number): number => searchedTo.get(id)?.searched ?? -1,
    entries: (id: number, after: number, limit: number) =>
      entries.iterate(id * seqsPerThread + after + 1, (id + 1) * seqsPerThread - 1, limit),
    add: (place: number, words: readonly string[]): void => {
      if (words.length > 0) add.run(place, words.join(" "));
    },
    remove: (first: number, last: number): void => void remove.run(first, last),
    /** Records up to where a thread is indexed. If that is `all`, it is skipped until a lease is acquired. */
    searched: (id: number, seq: number, all: boolean): void => void searched.run(seq, all ? 1 : 0, id),
  };
};

/** A thread that may have entries which are not indexed, and the seq of its newest indexed one. */
interface FreshThread {
  readonly id: number;
  readonly threadId: string;
  readonly searched: number;
}

/** The limits of one batch: entries plus threads, and characters of text. No other process can write during a batch. */
const batch = 512;
const batchLength = 1_000_000;

/** Indexes a batch, of threads after a number. Returns the number after which to continue, or null. */
const takeIn = (
  connection: Connection,
  index: Statements,
  from: number,
  threadId: string | undefined,
): number | null => {
  let after = from;
  let length = 0;
  for (let left = batch; left > 0;) {
    const fresh = index.next(after, threadId);
    if (fresh === undefined) return null;
    const { id: thread, searched } = fresh;
    const most = left;
    let newest = searched;
    let count = 0;
    let isFull = false;
    for (const { seq, body } of index.entries(thread, searched, most)) {
      index.add(thread * seqsPerThread + seq, wordsOfBody(connection, fresh.threadId, seq, body));
      [newest, count, length] = [seq, count + 1, length + body.length];
      isFull = length >= batchLength;
      if (isFull) break;
    }
    const all = count < most && !isFull;
    index.searched(thread, newest, all);
    if (isFull) return after;
    left -= count + 1;
    if (all) after = thread;
  }
  return after;
};

const wordsIn = (entry: Entry): readonly string[] => wordsOf(textOfEntry(entry));

/** Returns the words of a body; none if it is damaged or not an entry. A reader of the thread gets the error. */
const wordsOfBody = (connection: Connection, threadId: string, seq: number, body: string): readonly string[] => {
  try {
    // The cast trusts what was stored. Reading the text of another value throws.
    return wordsIn(entryOf(connection, threadId, seq, body) as Entry);
  } catch {
    return [];
  }
};

/** Creates a search by the index: newest thread first, and within a thread newest entry first. */
export const sqliteSearch = (connection: Connection, index: SearchIndex): NonNullable<Store["search"]> => {
  const { database } = connection;
  const number = query<{ readonly id: number }>(database, "SELECT id FROM threads WHERE thread = ?");
  return async (text, options = {}) => {
    const { words, limit } = checkedSearch(text, options);
    const { threadId, after } = options;
    const before = after === undefined ? Number.MAX_SAFE_INTEGER : placeOf(after);
    if (words.length === 0) return { hits: [], next: null };
    await index.catchUp(threadId, setImmediate);
    return attempt(connection, () => {
      const only = threadId === undefined ? null : number.get(threadId)?.id;
      if (only === undefined) return { hits: [], next: null };
      const [first, last] =
        only === null ? [0, before - 1] : [only * seqsPerThread, Math.min(before, (only + 1) * seqsPerThread) - 1];
      const rows = query<HitRow>(database, found).all(inQuery(words), first, last, limit + 1);
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
