import { StorageError } from "@colloquy/host/store";
import { attempt, type Connection, query, writing } from "./connection.ts";
import { isBusy, messageOf, sqliteFailure } from "./failure.ts";
import { seqsPerThread } from "./schema.ts";
import type { SearchIndex } from "./search-index.ts";

/**
 * When deleted or rewritten text disappears from the bytes of the file. `at-once`: before the call returns. That
 * rewrites the file, which takes about 5 ms per megabyte and temporarily the same room again. `on-close`: when the
 * store is closed or next opened; use it to delete often or with a large file. In both cases entries are overwritten in
 * place. The rewrite cleans the search index, and the unused bytes that SQLite leaves when it moves data.
 */
export type Erasing = "at-once" | "on-close";

export interface Eraser {
  /** Within a transaction: records that something must be erased after it. */
  readonly owe: () => void;
  /** Within a transaction: deletes the row of a thread, whose data are erased later. */
  readonly leave: (thread: number) => void;
  /** Erases what is due, or postpones it. Throws a `StorageError` (`not-erased`) that says what is `done`. */
  readonly erase: (done: string) => void;
  /** Erases what is due, if possible. */
  readonly settle: () => void;
  /** Erases what another process prevented from being erased at once, if possible now. */
  readonly makeUp: () => void;
}

export const eraserOf = (connection: Connection, index: SearchIndex, erasing: Erasing): Eraser => {
  const { database, path, reserve } = connection;
  const owe = database.prepare("UPDATE last_token SET unerased = unerased + 1");
  const oweOrphans = database.prepare(`UPDATE last_token SET unerased = unerased + ${orphansOwed}`);
  const swept = database.prepare(`UPDATE last_token SET unerased = unerased % ${orphansOwed} + 1 WHERE unerased = ?`);
  const owed = query<{ readonly unerased: number }>(database, "SELECT unerased FROM last_token");
  const paid = database.prepare("UPDATE last_token SET unerased = 0 WHERE unerased = ?");
  const deleteThread = database.prepare("DELETE FROM threads WHERE id = ?");
  const sweepSome = sweeperOf(connection, index);
  const debt = (): number => owed.get()?.unerased ?? 0;
  const sweep = (): void => {
    const before = debt();
    if (before < orphansOwed) return;
    reserve.makingRoom(() => {
      while (writing(connection, sweepSome));
    });
    swept.run(before);
  };
  const settle = (): void => {
    sweep();
    const unerased = debt();
    if (unerased === 0) return;
    index.purge();
    database.exec("VACUUM");
    emptyLog(connection);
    paid.run(unerased);
    reserve.keep();
  };
  return {
    owe: () => void owe.run(),
    leave: (thread) => {
      oweOrphans.run();
      deleteThread.run(thread);
    },
    erase: (done) =>
      attempt(connection, () => {
        try {
          if (erasing === "at-once") return settle();
          sweep();
          emptyLog(connection);
        } catch (error) {
          throw notErased(path, done, error);
        }
      }),
    settle: () => quietly(settle),
    makeUp: () =>
      quietly(() => {
        if (erasing !== "at-once" || debt() === 0) return;
        withoutWaiting(connection, () => {
          // This detects a reader before the file is rewritten in vain.
          emptyLog(connection);
          settle();
        });
      }),
  };
};

/** A number that the count of other erasures never reaches. */
const orphansOwed = 2 ** 32;

const quietly = (settle: () => void): void => {
  try {
    settle();
  } catch {
    // It remains due: the next deletion, release of a lease or opening of the file tries again.
  }
};

const withoutWaiting = ({ database }: Connection, work: () => void): void => {
  const timeout = Number(database.prepare("PRAGMA busy_timeout").get()?.["timeout"]);
  database.exec("PRAGMA busy_timeout = 0");
  try {
    work();
  } finally {
    database.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
};

/** Empties the log. Waits for a process that is reading as long as for a lock. */
const emptyLog = ({ database }: Connection): void => {
  const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() ?? {};
  if (busy !== 0) throw new Error("another process reads it");
};

const notErased = (path: string, done: string, error: unknown): StorageError => {
  const words = messageOf(sqliteFailure(error, path)).replace(/\.$/, "");
  const needsPermission = words.includes("attached databases");
  const reason = isBusy(error)
    ? "another process kept the file locked"
    : needsPermission
      ? "Deno lets SQLite rewrite a file only with --allow-all"
      : words;
  const there = needsPermission ? " in a process with all permissions" : "";
  return new StorageError(
    "not-erased",
    `SQLite store "${path}": ${done}, but its words may still stand in bytes that are not in use: ${reason}. ` +
      `They go with the next call${there} that deletes or rewrites anything or releases a lease, or when the file is opened again${there}.`,
    { cause: error },
  );
};

/**
 * Returns a function that erases some data of deleted threads, in a small step, so that the log stays small. It returns
 * false if there are none. When the disk is too full to overwrite a thread's data, its deletion removes only the row
 * that names the thread. Nothing finds the rest, and the thread's number is not used again until the rest is erased.
 */
const sweeperOf = ({ database }: Connection, index: SearchIndex): (() => boolean) => {
  const next = query<{ readonly thread: number }>(database, nextOrphan);
  const places = query<{ readonly first: number | null; readonly last: number | null }>(
    database,
    "SELECT min(place) AS first, max(place) AS last FROM (SELECT place FROM entries WHERE place BETWEEN ? AND ? ORDER BY place LIMIT 64)",
  );
  const deleteEntries = database.prepare("DELETE FROM entries WHERE place BETWEEN ? AND ?");
  const deleteParts = database.prepare(
    "DELETE FROM snapshots WHERE rowid IN (SELECT rowid FROM snapshots WHERE thread = ? LIMIT 16)",
  );
  return () => {
    const orphan = next.get();
    if (orphan === undefined) return false;
    const from = orphan.thread * seqsPerThread;
    const { first = null, last = null } = places.get(from, from + seqsPerThread - 1) ?? {};
    if (first !== null && last !== null) {
      index.forget(first, last);
      deleteEntries.run(first, last);
    } else deleteParts.run(orphan.thread);
    return true;
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
