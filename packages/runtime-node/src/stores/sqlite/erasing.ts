import { StorageError } from "@colloquy/host/store";
import { attempt, type Connection } from "./connection.ts";
import { isBusy, messageOf, sqliteFailure } from "./failure.ts";
import type { Orphans } from "./orphans.ts";
import type { SearchIndex } from "./search-index.ts";

/**
 * When what was deleted or rewritten is gone from the bytes of the file. `at-once`: before the call returns; the file is
 * written anew for it, which takes about 5 ms for each of its megabytes, and as much room again for the time.
 * `on-close`: when the store is closed, or the next one opened; for those who delete much, or have a large file. Entries
 * are overwritten where they stand either way: what takes the time is what SQLite leaves behind in unused bytes when it
 * moves things about, and the search index.
 */
export type Erasing = "at-once" | "on-close";

export interface Eraser {
  /** Within a transaction: something is to be erased after it. */
  readonly owe: () => void;
  /** The same for entries whose thread is gone. */
  readonly oweOrphans: () => void;
  /** Erases what is owed, or puts it off. `done` says what was done before. Throws a `StorageError` of kind `not-erased`. */
  readonly erase: (done: string) => void;
  /** Erases what is owed, if it can. */
  readonly settle: () => void;
  /** The same, where an erasure that was due at once was blocked by another process, and no longer is. */
  readonly makeUp: () => void;
}

export const eraserOf = (connection: Connection, index: SearchIndex, orphans: Orphans, erasing: Erasing): Eraser => {
  const { database, path, reserve } = connection;
  const owe = database.prepare("UPDATE last_token SET unerased = unerased + 1");
  const oweOrphans = database.prepare(`UPDATE last_token SET unerased = unerased + ${orphansOwed}`);
  const swept = database.prepare(`UPDATE last_token SET unerased = unerased % ${orphansOwed} + 1 WHERE unerased = ?`);
  const owed = database.prepare("SELECT unerased FROM last_token");
  const paid = database.prepare("UPDATE last_token SET unerased = 0 WHERE unerased = ?");
  // The column that the statement names; the driver types a row as any record. So below.
  const debt = (): number => (owed.get() as { readonly unerased: number }).unerased;
  const sweep = (): void => {
    const before = debt();
    if (before < orphansOwed) return;
    reserve.makingRoom(orphans.sweep);
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
    oweOrphans: () => void oweOrphans.run(),
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
          // A reader is noticed before the file is written anew for nothing.
          emptyLog(connection);
          settle();
        });
      }),
  };
};

/** More than what is owed else comes to. */
const orphansOwed = 2 ** 32;

const quietly = (settle: () => void): void => {
  try {
    settle();
  } catch {
    // It stays owed: the next deletion, release of a lease or opening of the file tries again.
  }
};

const withoutWaiting = ({ database }: Connection, work: () => void): void => {
  const { timeout } = database.prepare("PRAGMA busy_timeout").get() as { readonly timeout: number };
  database.exec("PRAGMA busy_timeout = 0");
  try {
    work();
  } finally {
    database.exec(`PRAGMA busy_timeout = ${timeout}`);
  }
};

/** Waits for a process that reads just now, as long as for a lock. */
const emptyLog = ({ database }: Connection): void => {
  const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() ?? {};
  if (busy !== 0) throw new Error("another process reads it");
};

const notErased = (path: string, done: string, error: unknown): StorageError => {
  const reason = isBusy(error)
    ? "another process kept the file locked"
    : messageOf(sqliteFailure(error, path)).replace(/\.$/, "");
  return new StorageError(
    "not-erased",
    `SQLite store "${path}": ${done}, but its words may still stand in bytes that are not in use: ${reason}. ` +
      "They go with the next call that deletes or rewrites anything or releases a lease, or when the file is opened again.",
    { cause: error },
  );
};
