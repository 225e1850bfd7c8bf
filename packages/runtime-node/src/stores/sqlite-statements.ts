import type { DatabaseSync, StatementSync } from "node:sqlite";

import type { StoredThread } from "@colloquy/host";

import { seqsPerThread } from "./sqlite-schema.ts";

/** All the SQL of a store but its schema, compiled once. */
export interface Statements {
  /** Takes the write lock. */
  readonly begin: () => void;
  readonly commit: () => void;
  readonly rollback: () => void;
  readonly holder: (threadId: string) => { readonly owner: string; readonly expiresAt: number } | undefined;
  /** A number greater than all before it. */
  readonly nextToken: () => number;
  readonly grant: (threadId: string, owner: string, token: number, expiresAt: number) => void;
  /** False when there is no such lease. */
  readonly renew: (threadId: string, token: number, expiresAt: number) => boolean;
  readonly release: (threadId: string, token: number) => void;
  /** When the lease of this token runs out, null when there is none; and the seq of the newest entry, null for none. */
  readonly standing: (
    threadId: string,
    token: number,
  ) => { readonly expiresAt: number | null; readonly seq: number | null };
  /** The number of a thread, which is given on its first entry. */
  readonly numberOf: (threadId: string) => number;
  readonly insert: (thread: number, seq: number, body: string) => void;
  /** One entry in one statement, where the lease stands and the seq is the next. False, and nothing is written, where not. */
  readonly insertNext: (threadId: string, token: number, now: number, seq: number, body: string) => boolean;
  readonly read: (threadId: string, fromSeq: number) => readonly StoredBody[];
  /** At most `limit` threads, in the order of their ids, after one or from the first on. */
  readonly threadsAfter: (after: string | null, limit: number) => readonly StoredThread[];
  /** Removes entries and lease. True when there were entries. */
  readonly deleteThread: (threadId: string) => boolean;
  /** Empties the write-ahead log into the file, unless somebody reads from it. */
  readonly checkpoint: () => void;
}

export interface StoredBody {
  readonly seq: number;
  readonly body: string;
}

/** The casts below say what the schema says: its tables are STRICT. */
export const prepareStatements = (database: DatabaseSync): Statements => {
  const statement = (sql: string): StatementSync => database.prepare(sql);
  const begin = statement("BEGIN IMMEDIATE");
  const commit = statement("COMMIT");
  const rollback = statement("ROLLBACK");
  const holder = statement("SELECT owner, expires_at AS expiresAt FROM leases WHERE thread = ?");
  const nextToken = statement("UPDATE last_token SET token = token + 1 RETURNING token");
  const grant = statement("INSERT OR REPLACE INTO leases (thread, owner, token, expires_at) VALUES (?, ?, ?, ?)");
  const renew = statement("UPDATE leases SET expires_at = ?3 WHERE thread = ?1 AND token = ?2");
  const release = statement("DELETE FROM leases WHERE thread = ? AND token = ?");
  const standing = statement(
    `SELECT (SELECT expires_at FROM leases WHERE thread = ?1 AND token = ?2) AS expiresAt,
            (SELECT ${newestSeq} FROM threads WHERE thread = ?1) AS seq`,
  );
  const addThread = statement("INSERT OR IGNORE INTO threads (thread) VALUES (?)");
  const threadNumber = statement("SELECT id FROM threads WHERE thread = ?");
  const insert = statement("INSERT INTO entries (place, body) VALUES (?, ?)");
  const insertNext = statement(
    `INSERT INTO entries (place, body)
     SELECT id * ${seqsPerThread} + ?4, ?5 FROM threads
     WHERE thread = ?1 AND ${newestSeq} = ?4 - 1
       AND (SELECT expires_at FROM leases WHERE thread = ?1 AND token = ?2) > ?3`,
  );
  const read = statement(
    `SELECT place % ${seqsPerThread} AS seq, body FROM entries, threads
     WHERE thread = ?1 AND place BETWEEN id * ${seqsPerThread} + ?2 AND (id + 1) * ${seqsPerThread} - 1 ORDER BY place`,
  );
  const page = statement(
    `SELECT thread AS threadId, ${newestSeq} AS seq FROM threads WHERE thread > ? ORDER BY thread LIMIT ?`,
  );
  const firstPage = statement(`SELECT thread AS threadId, ${newestSeq} AS seq FROM threads ORDER BY thread LIMIT ?`);
  const deleteLease = statement("DELETE FROM leases WHERE thread = ?");
  const deleteEntries = statement(
    `DELETE FROM entries WHERE place >= (SELECT id FROM threads WHERE thread = ?1) * ${seqsPerThread}
       AND place < ((SELECT id FROM threads WHERE thread = ?1) + 1) * ${seqsPerThread}`,
  );
  const deleteThread = statement("DELETE FROM threads WHERE thread = ?");
  const checkpoint = statement("PRAGMA wal_checkpoint(TRUNCATE)");
  return {
    begin: () => void begin.run(),
    commit: () => void commit.run(),
    rollback: () => void rollback.run(),
    holder: (threadId) => holder.get(threadId) as ReturnType<Statements["holder"]>,
    nextToken: () => (nextToken.get() as { readonly token: number }).token,
    grant: (threadId, owner, token, expiresAt) => void grant.run(threadId, owner, token, expiresAt),
    renew: (threadId, token, expiresAt) => renew.run(threadId, token, expiresAt).changes === 1,
    release: (threadId, token) => void release.run(threadId, token),
    standing: (threadId, token) => standing.get(threadId, token) as ReturnType<Statements["standing"]>,
    numberOf: (threadId) => {
      addThread.run(threadId);
      return (threadNumber.get(threadId) as { readonly id: number }).id;
    },
    insert: (thread, seq, body) => void insert.run(thread * seqsPerThread + seq, body),
    insertNext: (threadId, token, now, seq, body) => insertNext.run(threadId, token, now, seq, body).changes === 1,
    // The columns that each statement names; the driver types a row as any record.
    read: (threadId, fromSeq) => read.all(threadId, fromSeq) as unknown as readonly StoredBody[],
    // As above.
    threadsAfter: (after, limit) =>
      (after === null ? firstPage.all(limit) : page.all(after, limit)) as unknown as readonly StoredThread[],
    deleteThread: (threadId) => {
      deleteLease.run(threadId);
      deleteEntries.run(threadId);
      return deleteThread.run(threadId).changes !== 0;
    },
    checkpoint: () => void checkpoint.get(),
  };
};

/** Of the thread of the row at hand; by the primary key, so it costs the same however long the thread is. */
const newestSeq = `(SELECT max(place) FROM entries
  WHERE place BETWEEN id * ${seqsPerThread} AND (id + 1) * ${seqsPerThread} - 1) % ${seqsPerThread}`;
