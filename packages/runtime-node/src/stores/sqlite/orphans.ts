import { type Connection, writing } from "./connection.ts";
import { seqsPerThread } from "./schema.ts";
import type { SearchIndex } from "./search-index.ts";

/**
 * Entries and snapshots of deleted threads. When the disk is too full to overwrite a thread's data, its deletion
 * removes only the row that names the thread, in one small write. Nothing finds the rest, and the thread's number is
 * not used again until the rest is erased.
 */
export interface Orphans {
  /** Within a transaction: deletes the row of a thread, whose data are erased later. */
  readonly leave: (thread: number) => void;
  /** Erases such data in small steps, so that the log stays small. */
  readonly sweep: () => void;
}

export const orphansOf = (connection: Connection, index: SearchIndex): Orphans => {
  const { database } = connection;
  const deleteThread = database.prepare("DELETE FROM threads WHERE id = ?");
  const next = database.prepare(nextOrphan);
  const places = database.prepare(
    "SELECT min(place) AS first, max(place) AS last FROM (SELECT place FROM entries WHERE place BETWEEN ? AND ? ORDER BY place LIMIT 64)",
  );
  const deleteEntries = database.prepare("DELETE FROM entries WHERE place BETWEEN ? AND ?");
  const deleteParts = database.prepare(
    "DELETE FROM snapshots WHERE rowid IN (SELECT rowid FROM snapshots WHERE thread = ? LIMIT 16)",
  );
  const sweepSome = (): boolean => {
    // The casts name the columns of each statement, which come from STRICT tables; the driver types a row as any
    // record.
    const orphan = next.get() as { readonly thread: number } | undefined;
    if (orphan === undefined) return false;
    const from = orphan.thread * seqsPerThread;
    const { first, last } = places.get(from, from + seqsPerThread - 1) as { readonly [end: string]: number | null };
    if (typeof first === "number" && typeof last === "number") {
      index.forget(first, last);
      deleteEntries.run(first, last);
    } else deleteParts.run(orphan.thread);
    return true;
  };
  return {
    leave: (thread) => void deleteThread.run(thread),
    sweep: () => {
      while (writing(connection, sweepSome));
    },
  };
};

/** Steps from one thread number to the next: one lookup in the tree for each, however many entries it has. */
const nextOrphan = `
  WITH RECURSIVE numbers (thread) AS (
    SELECT min(place) / ${seqsPerThread} FROM entries
    UNION ALL
    SELECT (SELECT min(place) FROM entries WHERE place >= (thread + 1) * ${seqsPerThread}) / ${seqsPerThread}
      FROM numbers WHERE thread IS NOT NULL
  )
  SELECT thread FROM (
    SELECT thread FROM numbers WHERE thread IS NOT NULL
    UNION SELECT thread FROM snapshots
  ) WHERE thread NOT IN (SELECT id FROM threads) LIMIT 1`;
