import { factsOf, type Lease, LeaseLostError, SequenceConflictError, type Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { attempt, type Connection, refuseUnstorable, writing } from "./connection.ts";
import { bodyOf, entryOf } from "./entry-body.ts";
import { newestSeq, seqsPerThread } from "./schema.ts";

export interface Journals extends Pick<Store, "read"> {
  readonly append: (lease: Lease, expectedSeq: number, entries: readonly Entry[]) => void;
  /** Within a transaction: the number of a thread; undefined for one that is not there. */
  readonly numberOf: (threadId: string) => number | undefined;
  /** Within a transaction: puts entries in the place of others. Throws a `RangeError` for a seq that is not there. */
  readonly replace: (threadId: string, thread: number, entries: readonly Entry[]) => void;
  /** Within a transaction: the thread and its entries are there no more. */
  readonly forget: (thread: number) => void;
}

export const sqliteJournals = (connection: Connection): Journals => {
  const { database, clock } = connection;
  const number = database.prepare("SELECT id FROM threads WHERE thread = ?");
  const insertNext = database.prepare(
    `INSERT INTO entries (place, body)
     SELECT id * ${seqsPerThread} + ?4, ?5 FROM threads
     WHERE thread = ?1 AND ${newestSeq} = ?4 - 1
       AND (SELECT expires_at FROM leases WHERE thread = ?1 AND token = ?2) > ?3`,
  );
  const standing = database.prepare(
    `SELECT (SELECT expires_at FROM leases WHERE thread = ?1 AND token = ?2) AS expiresAt,
            (SELECT ${newestSeq} FROM threads WHERE thread = ?1) AS seq`,
  );
  const addThread = database.prepare("INSERT OR IGNORE INTO threads (thread) VALUES (?)");
  const keepFacts = database.prepare(
    "UPDATE threads SET created_at = coalesce(?2, created_at), metadata = coalesce(?3, metadata) WHERE id = ?1",
  );
  const insert = database.prepare("INSERT INTO entries (place, body) VALUES (?, ?)");
  const read = database.prepare(
    `SELECT place % ${seqsPerThread} AS seq, body FROM entries, threads
     WHERE thread = ?1 AND place BETWEEN id * ${seqsPerThread} + ?2 AND (id + 1) * ${seqsPerThread} - 1 ORDER BY place`,
  );
  const replace = database.prepare("UPDATE entries SET body = ? WHERE place = ?");
  const deleteEntries = database.prepare("DELETE FROM entries WHERE place BETWEEN ? AND ?");
  const deleteThread = database.prepare("DELETE FROM threads WHERE id = ?");

  const numberOf = (threadId: string): number | undefined =>
    // The columns that each statement names, of STRICT tables; the driver types a row as any record. So below.
    (number.get(threadId) as { readonly id: number } | undefined)?.id;

  const keep = (thread: number, { createdAt, metadata }: ReturnType<typeof factsOf>): void => {
    if (createdAt === undefined && metadata === undefined) return;
    keepFacts.run(thread, createdAt ?? null, metadata === undefined ? null : JSON.stringify(metadata));
  };

  const readEntries = (threadId: string, fromSeq: number): readonly unknown[] => {
    const rows = read.all(threadId, fromSeq) as unknown as readonly { readonly seq: number; readonly body: string }[];
    return rows.map(({ seq, body }) => entryOf(connection, threadId, seq, body));
  };

  return {
    numberOf,
    append: (lease, expectedSeq, entries) => {
      const { threadId, token } = lease;
      refuseGaps(threadId, expectedSeq, entries);
      // Before the lock is taken: large entries take their time.
      const bodies = entries.map(bodyOf);
      const facts = factsOf(entries);
      const [body] = bodies;
      const isPlain = body !== undefined && bodies.length === 1 && expectedSeq >= 0 && facts.metadata === undefined;
      const added = (text: string): boolean =>
        insertNext.run(threadId, token, clock.now(), expectedSeq + 1, text).changes === 1;
      if (isPlain && attempt(connection, () => added(body))) return;
      writing(connection, () => {
        const now = standing.get(threadId, token) as { readonly expiresAt: number | null; readonly seq: number | null };
        if (now.expiresAt === null || now.expiresAt <= clock.now()) throw new LeaseLostError(lease);
        const newest = now.seq ?? -1;
        if (newest !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, newest);
        if (bodies.length === 0) return;
        addThread.run(threadId);
        const thread = numberOf(threadId) ?? never(threadId);
        keep(thread, facts);
        for (const [index, text] of bodies.entries()) insert.run(thread * seqsPerThread + newest + 1 + index, text);
      });
    },
    read: async (threadId, fromSeq = 0) => {
      refuseUnstorable(connection, threadId);
      return attempt(connection, () => readEntries(threadId, Math.max(fromSeq, 0)));
    },
    replace: (threadId, thread, entries) => {
      for (const entry of entries) {
        const isThere = Number.isSafeInteger(entry.seq) && entry.seq >= 0 && entry.seq < seqsPerThread;
        const place = thread * seqsPerThread + entry.seq;
        if (!isThere || replace.run(bodyOf(entry), place).changes === 0) throw strangerTo(threadId, entry.seq);
      }
      // What was stored; where it is no entry, it says nothing of its thread.
      if (factsOf(entries).metadata !== undefined) keep(thread, factsOf(readEntries(threadId, 0) as readonly Entry[]));
    },
    forget: (thread) => {
      deleteEntries.run(thread * seqsPerThread, (thread + 1) * seqsPerThread - 1);
      deleteThread.run(thread);
    },
  };
};

/** Something is said of an entry that is not there. */
export const strangerTo = (threadId: string, seq: number): RangeError =>
  new RangeError(`thread "${threadId}": there is no entry ${seq}; read the journal again`);

const refuseGaps = (threadId: string, expectedSeq: number, entries: readonly Entry[]): void => {
  if (expectedSeq + entries.length >= seqsPerThread) {
    throw new RangeError(
      `thread "${threadId}": it would have ${expectedSeq + 1 + entries.length} entries, and a SQLite store keeps ${seqsPerThread} a thread; begin a new thread.`,
    );
  }
  const index = entries.findIndex(({ seq }, position) => seq !== expectedSeq + 1 + position);
  const entry = entries[index];
  if (entry === undefined) return;
  throw new RangeError(
    `thread "${threadId}": an entry of seq ${entry.seq} was given where ${expectedSeq + 1 + index} follows; append entries in order of seq.`,
  );
};

const never = (threadId: string): never => {
  throw new Error(`thread "${threadId}" was added, and is not there`);
};
