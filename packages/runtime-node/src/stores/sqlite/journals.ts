import { factsOf, noSuchEntry } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { attempt, type Connection, refuseUnstorable } from "./connection.ts";
import { bodyOf, entryOf } from "./entry-body.ts";
import { seqsPerThread } from "./schema.ts";

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
  const number = database.prepare("SELECT id FROM threads WHERE thread = ?");
  // A number is not used again until its entries are erased.
  const addThread = database.prepare(
    `INSERT OR IGNORE INTO threads (id, thread) SELECT 1 + max(
       coalesce((SELECT max(id) FROM threads), 0), coalesce((SELECT max(place) FROM entries) / ${seqsPerThread}, 0),
       coalesce((SELECT max(thread) FROM snapshots), 0)), ?`,
  );
  const keepFacts = database.prepare(
    "UPDATE threads SET created_at = coalesce(?, created_at), metadata = coalesce(?, metadata) WHERE id = ?",
  );
  const read = database.prepare(
    `SELECT place % ${seqsPerThread} AS seq, body FROM entries, threads
     WHERE thread = ? AND place BETWEEN id * ${seqsPerThread} + ? AND (id + 1) * ${seqsPerThread} - 1 ORDER BY place`,
  );
  const replace = database.prepare("UPDATE entries SET body = ? WHERE place = ?");
  const deleteEntries = database.prepare("DELETE FROM entries WHERE place BETWEEN ? AND ?");
  const deleteThread = database.prepare("DELETE FROM threads WHERE id = ?");

  const numberOf = (threadId: string): number | undefined =>
    // The casts name the columns of each statement, which come from STRICT tables; the driver types a row as any
    // record. So below.
    (number.get(threadId) as { readonly id: number } | undefined)?.id;

  const keep: Journals["keep"] = (thread, { createdAt, metadata }) => {
    if (createdAt === undefined && metadata === undefined) return;
    keepFacts.run(createdAt ?? null, metadata === undefined ? null : JSON.stringify(metadata), thread);
  };

  const readEntries = (threadId: string, fromSeq: number): readonly unknown[] => {
    // The cast names the columns of the statement, which come from STRICT tables; the driver types a row as any record.
    const rows = read.all(threadId, fromSeq) as unknown as readonly { readonly seq: number; readonly body: string }[];
    return rows.map(({ seq, body }) => entryOf(connection, threadId, seq, body));
  };

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
