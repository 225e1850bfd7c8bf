import { factsOf, type Lease, LeaseLostError, refuseGaps, SequenceConflictError } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { attempt, type Connection, writing } from "./connection.ts";
import { bodyOf } from "./entry-body.ts";
import type { Journals } from "./journals.ts";
import { newestSeq, seqsPerThread } from "./schema.ts";

/** Appends entries. Throws `LeaseLostError` or `SequenceConflictError`. */
export type Appender = (lease: Lease, expectedSeq: number, entries: readonly Entry[]) => void;

/**
 * Creates an appender. The usual append is one entry of an existing thread, in one statement. Its result says only
 * whether the entry was added.
 */
export const appenderOf = (connection: Connection, journals: Journals): Appender => {
  const { database, clock } = connection;
  const insertNext = database.prepare(
    `INSERT INTO entries (place, body)
     SELECT id * ${seqsPerThread} + ?, ? FROM threads
     WHERE thread = ? AND ${newestSeq} = ?
       AND (SELECT expires_at FROM leases WHERE thread = ? AND token = ?) > ?`,
  );
  const standing = database.prepare(
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
    if (isPlain && attempt(connection, () => added(body))) return;
    writing(connection, () => {
      // The cast names the columns of the statement, which come from STRICT tables; the driver types a row as any
      // record.
      const now = standing.get(threadId, token, threadId) as {
        readonly expiresAt: number | null;
        readonly seq: number | null;
      };
      if (now.expiresAt === null || now.expiresAt <= clock.now()) throw new LeaseLostError(lease);
      const newest = now.seq ?? -1;
      if (newest !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, newest);
      if (bodies.length === 0) return;
      const thread = journals.add(threadId);
      journals.keep(thread, facts);
      for (const [index, text] of bodies.entries()) insert.run(thread * seqsPerThread + newest + 1 + index, text);
    });
  };
};

const refuseTooMany = (threadId: string, newest: number): void => {
  if (newest < seqsPerThread) return;
  throw new RangeError(
    `thread "${threadId}": it would have ${newest + 1} entries, and a SQLite store keeps ${seqsPerThread} a thread; begin a new thread.`,
  );
};
