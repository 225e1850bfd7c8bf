import {
  factsOf,
  LeaseLostError,
  noSuchEntry,
  parseStored,
  refuseGaps,
  SequenceConflictError,
} from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import type { Commits } from "./commits.ts";
import { attempt, type Connection, query, refuseUnstorable, writing } from "./connection.ts";
import { newestSeq, seqsPerThread } from "./schema.ts";

export interface Journals extends Pick<Store, "read"> {
  /** Within a transaction: returns the number of a thread; undefined if it does not exist. */
  readonly numberOf: (threadId: string) => number | undefined;
  /** Within a transaction: returns the number of a thread, which is added if it does not exist. */
  readonly add: (threadId: string) => number;
  /** Within a transaction: stores facts of a thread from its entries. */
  readonly keep: (thread: number, facts: ReturnType<typeof factsOf>) => void;
  /** Within a transaction: replaces entries. Throws a `RangeError` for a seq that does not exist. */
  readonly replace: (threadId: string, thread: number, entries: readonly Entry[]) => void;
  /** Within a transaction: deletes a thread and its entries. */
  readonly forget: (thread: number) => void;
}

export const sqliteJournals = (connection: Connection): Journals => {
  const { database } = connection;
  const number = query<{ readonly id: number }>(database, "SELECT id FROM threads WHERE thread = ?");
  // A number is not used again until its entries are erased.
  const addThread = database.prepare(
    `INSERT OR IGNORE INTO threads (id, thread) SELECT 1 + max(
       coalesce((SELECT max(id) FROM threads), 0), coalesce((SELECT max(place) FROM entries) / ${seqsPerThread}, 0),
       coalesce((SELECT max(thread) FROM snapshots), 0)), ?`,
  );
  const keepFacts = database.prepare(
    "UPDATE threads SET created_at = coalesce(?, created_at), metadata = coalesce(?, metadata) WHERE id = ?",
  );
  const read = query<{ readonly seq: number; readonly body: string }>(
    database,
    `SELECT place % ${seqsPerThread} AS seq, body FROM entries, threads
     WHERE thread = ? AND place BETWEEN id * ${seqsPerThread} + ? AND (id + 1) * ${seqsPerThread} - 1 ORDER BY place`,
  );
  const replace = database.prepare("UPDATE entries SET body = ? WHERE place = ?");
  const deleteEntries = database.prepare("DELETE FROM entries WHERE place BETWEEN ? AND ?");
  const deleteThread = database.prepare("DELETE FROM threads WHERE id = ?");

  const numberOf: Journals["numberOf"] = (threadId) => number.get(threadId)?.id;

  const keep: Journals["keep"] = (thread, { createdAt, metadata }) => {
    if (createdAt === undefined && metadata === undefined) return;
    keepFacts.run(createdAt ?? null, metadata === undefined ? null : JSON.stringify(metadata), thread);
  };

  const readEntries = (threadId: string, fromSeq: number): readonly unknown[] =>
    read.all(threadId, fromSeq).map(({ seq, body }) => entryOf(connection, threadId, seq, body));

  return {
    numberOf,
    add: (threadId) => {
      addThread.run(threadId);
      return numberOf(threadId) ?? never(threadId);
    },
    keep,
    read: async (threadId, fromSeq = 0) => {
      refuseUnstorable(connection, threadId);
      return attempt(connection, () => readEntries(threadId, Math.max(fromSeq, 0)));
    },
    replace: (threadId, thread, entries) => {
      for (const entry of entries) {
        const isThere = Number.isSafeInteger(entry.seq) && entry.seq >= 0 && entry.seq < seqsPerThread;
        const place = thread * seqsPerThread + entry.seq;
        if (!isThere || replace.run(bodyOf(entry), place).changes === 0) throw noSuchEntry(threadId, entry.seq);
      }
      // The cast trusts what was stored. A value that is not an entry yields no facts.
      if (factsOf(entries).metadata !== undefined) keep(thread, factsOf(readEntries(threadId, 0) as readonly Entry[]));
    },
    forget: (thread) => {
      deleteEntries.run(thread * seqsPerThread, (thread + 1) * seqsPerThread - 1);
      deleteThread.run(thread);
    },
  };
};

const never = (threadId: string): never => {
  throw new Error(`thread "${threadId}" was added, and is not there`);
};

/** Creates an appender. The usual append, of one entry to an existing thread, is one statement. */
export const appenderOf = (connection: Connection, journals: Journals, commits: Commits): Store["append"] => {
  const { database, clock } = connection;
  const insertNext = database.prepare(
    `INSERT INTO entries (place, body)
     SELECT id * ${seqsPerThread} + ?, ? FROM threads
     WHERE thread = ? AND ${newestSeq} = ?
       AND (SELECT expires_at FROM leases WHERE thread = ? AND token = ?) > ?`,
  );
  const standing = query<{ readonly expiresAt: number | null; readonly seq: number | null }>(
    database,
    `SELECT (SELECT expires_at FROM leases WHERE thread = ? AND token = ?) AS expiresAt,
            (SELECT ${newestSeq} FROM threads WHERE thread = ?) AS seq`,
  );
  const insert = database.prepare("INSERT INTO entries (place, body) VALUES (?, ?)");
  return (lease, expectedSeq, entries) => {
    const { threadId, token } = lease;
    refuseGaps(threadId, expectedSeq, entries);
    refuseTooMany(threadId, expectedSeq + entries.length);
    // Before the lock is taken, since large entries take a while.
    const bodies = entries.map(bodyOf);
    const facts = factsOf(entries);
    const [body] = bodies;
    const isPlain = body !== undefined && bodies.length === 1 && expectedSeq >= 0 && facts.metadata === undefined;
    const added = (text: string): boolean =>
      insertNext.run(expectedSeq + 1, text, threadId, expectedSeq, threadId, token, clock.now()).changes === 1;
    const addAll = (): void => {
      const now = standing.get(threadId, token, threadId);
      const expiresAt = now?.expiresAt ?? null;
      if (expiresAt === null || expiresAt <= clock.now()) throw new LeaseLostError(lease);
      const newest = now?.seq ?? -1;
      if (newest !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, newest);
      if (bodies.length === 0) return;
      const thread = journals.add(threadId);
      journals.keep(thread, facts);
      for (const [index, text] of bodies.entries()) insert.run(thread * seqsPerThread + newest + 1 + index, text);
    };
    return commits.write(threadId, {
      alone: () => {
        if (!isPlain || !attempt(connection, () => added(body))) writing(connection, addAll);
      },
      within: () => {
        if (!isPlain || !added(body)) addAll();
      },
    });
  };
};

const refuseTooMany = (threadId: string, newest: number): void => {
  if (newest < seqsPerThread) return;
  throw new RangeError(
    `thread "${threadId}": it would have ${newest + 1} entries, and a SQLite store keeps ${seqsPerThread} a thread; begin a new thread.`,
  );
};

/** Serialises an entry without its seq, which the row has. Most entries have nothing else but their event. */
const bodyOf = (entry: Entry): string => {
  if (Object.keys(entry).length === 2) return JSON.stringify(entry.event);
  const { seq: _, ...rest } = entry;
  return JSON.stringify(rest);
};

/** Parses a stored entry. Throws `StorageError`. */
export const entryOf = (connection: Connection, threadId: string, seq: number, body: string): unknown => {
  const entry = parseStored(connection.name, body, `entry ${seq} of thread "${threadId}"`);
  if (typeof entry !== "object" || entry === null) return entry;
  return "type" in entry ? { seq, event: entry } : { seq, ...entry };
};
