import type { StatementSync } from "node:sqlite";

import { textOfEntry, wordsOf } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { attempt, type Connection, writing } from "./connection.ts";
import { entryOf } from "./entry-body.ts";
import { newestSeq, seqsPerThread } from "./schema.ts";

/**
 * The words of each entry, by its place. Made at the first search, and brought up to the journals at each: so that
 * appending costs nothing, and a file that is never searched has no index. It keeps what it was given, so
 * that what is taken out is what was put in, whatever version of this package did so.
 */
export interface SearchIndex {
  /** Takes in what it has not seen of a thread, or of all; gives others their turn in between. */
  readonly catchUp: (threadId: string | undefined, pause: () => Promise<void>) => Promise<void>;
  /** Within a transaction: entries are others now. */
  readonly replace: (thread: number, entries: readonly Entry[]) => void;
  /** Within a transaction: the entries from one place to another are gone. */
  readonly forget: (first: number, last: number) => void;
  /** What was taken out is gone from it, and not only marked as such. Reads and writes it whole. */
  readonly purge: () => void;
}

export const searchIndex = (connection: Connection): SearchIndex => {
  const { database } = connection;
  const isThere = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'said'");
  let statements: Statements | undefined;
  // Another process may have made it meanwhile; no process removes it.
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
 * Words come folded and apart, each once, so that no tokenizer has to find them and no place of them has to be kept.
 * Its own `secure-delete` would take seconds for a long thread.
 */
const schema = `CREATE VIRTUAL TABLE said USING fts5 (words, columnsize = 0, detail = none, tokenize = ascii);
  CREATE INDEX threads_unsearched ON threads (id) WHERE unsearched = 1;`;

interface Statements {
  /** The first thread after this one that may have something new, of all or the one that is named. */
  readonly next: (after: number, threadId: string | undefined) => number | undefined;
  readonly thread: (thread: number) => { readonly threadId: string; readonly searched: number };
  readonly entries: (
    thread: number,
    after: number,
    limit: number,
  ) => Iterable<{ readonly seq: number; readonly body: string }>;
  readonly add: (place: number, words: readonly string[]) => void;
  readonly remove: (first: number, last: number) => void;
  /** All is taken in up to a seq; where that is all, and no lease allows an append, it is so until a lease is acquired. */
  readonly searched: (thread: number, seq: number, all: boolean) => void;
}

/** The casts below name the columns of each statement, of STRICT tables; the driver types a row as any record. */
const prepareStatements = ({ database }: Connection): Statements => {
  const statement = (sql: string): StatementSync => database.prepare(sql);
  // A thread that has a lease stays among them, and is passed over while there is nothing new in it.
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
      // The columns that the statement names, of STRICT tables; the driver types a row as any record.
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

/** Entries and threads at once, and characters of what was said in them: while they are taken in, no other process can write. */
const batch = 512;
const batchLength = 1_000_000;

/** Takes in a batch, of threads after the one of this number. Says after which to go on; null for no more. */
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

/** None where the body is damaged, or no entry: a reader of the thread gets the error. */
const wordsOfBody = (connection: Connection, threadId: string, seq: number, body: string): readonly string[] => {
  try {
    // What was stored; where it is no entry, reading its text throws.
    return wordsIn(entryOf(connection, threadId, seq, body) as Entry);
  } catch {
    return [];
  }
};
