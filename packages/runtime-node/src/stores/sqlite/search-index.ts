import type { StatementSync } from "node:sqlite";

import { textOfEntry, wordsOf } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { attempt, type Connection, writing } from "./connection.ts";
import { entryOf } from "./entry-body.ts";
import { newestSeq, seqsPerThread } from "./schema.ts";

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
      const { searched } = index.thread(thread);
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

interface Statements {
  /** Returns the first thread after this one that may have new entries, of all threads or only the named one. */
  readonly next: (after: number, threadId: string | undefined) => number | undefined;
  readonly thread: (thread: number) => { readonly threadId: string; readonly searched: number };
  readonly entries: (
    thread: number,
    after: number,
    limit: number,
  ) => Iterable<{ readonly seq: number; readonly body: string }>;
  readonly add: (place: number, words: readonly string[]) => void;
  readonly remove: (first: number, last: number) => void;
  /**
   * Records that entries up to a seq are indexed. If those are `all` and no lease allows an append, the thread is
   * skipped until a lease is acquired.
   */
  readonly searched: (thread: number, seq: number, all: boolean) => void;
}

/**
 * Prepares the statements. The casts name their columns, which come from STRICT tables; the driver types a row as any
 * record.
 */
const prepareStatements = ({ database }: Connection): Statements => {
  const statement = (sql: string): StatementSync => database.prepare(sql);
  // A thread with a lease remains among them, but is skipped while it has no new entries.
  const fresh = `unsearched = 1 AND (${newestSeq} > searched OR thread NOT IN (SELECT thread FROM leases))`;
  const nextOfAll = statement(`SELECT id FROM threads WHERE ${fresh} AND id > ? ORDER BY id LIMIT 1`);
  const nextNamed = statement(`SELECT id FROM threads WHERE ${fresh} AND id > ? AND thread = ?`);
  const thread = statement("SELECT thread AS threadId, searched FROM threads WHERE id = ?");
  const entries = statement(
    `SELECT place % ${seqsPerThread} AS seq, body FROM entries WHERE place BETWEEN ? AND ? ORDER BY place LIMIT ?`,
  );
  const add = statement("INSERT INTO said (rowid, words) VALUES (?, ?)");
  const remove = statement("DELETE FROM said WHERE rowid BETWEEN ? AND ?");
  const searched = statement(
    `UPDATE threads SET searched = ?, unsearched = ? = 0 OR thread IN (SELECT thread FROM leases)
     WHERE id = ?`,
  );
  return {
    next: (after, threadId) => {
      const row = threadId === undefined ? nextOfAll.get(after) : nextNamed.get(after, threadId);
      return (row as { readonly id: number } | undefined)?.id;
    },
    thread: (id) => thread.get(id) as ReturnType<Statements["thread"]>,
    entries: (id, after, limit) =>
      // The cast names the columns of the statement, which come from STRICT tables; the driver types a row as any
      // record.
      entries.iterate(id * seqsPerThread + after + 1, (id + 1) * seqsPerThread - 1, limit) as unknown as ReturnType<
        Statements["entries"]
      >,
    add: (place, words) => {
      if (words.length > 0) add.run(place, words.join(" "));
    },
    remove: (first, last) => void remove.run(first, last),
    searched: (id, seq, all) => void searched.run(seq, all ? 1 : 0, id),
  };
};

/** The limits of one batch: entries plus threads, and characters of text. No other process can write during a batch. */
const batch = 512;
const batchLength = 1_000_000;

/**
 * Indexes a batch of entries, of threads after the given number. Returns the number after which to continue; null if
 * nothing is left.
 */
const takeIn = (
  connection: Connection,
  index: Statements,
  from: number,
  threadId: string | undefined,
): number | null => {
  let after = from;
  let length = 0;
  for (let left = batch; left > 0;) {
    const thread = index.next(after, threadId);
    if (thread === undefined) return null;
    const known = index.thread(thread);
    const most = left;
    let newest = known.searched;
    let count = 0;
    for (const { seq, body } of index.entries(thread, known.searched, most)) {
      index.add(thread * seqsPerThread + seq, wordsOfBody(connection, known.threadId, seq, body));
      [newest, count, length] = [seq, count + 1, length + body.length];
      if (length >= batchLength) break;
    }
    const all = count < most && length < batchLength;
    index.searched(thread, newest, all);
    if (length >= batchLength) return after;
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
