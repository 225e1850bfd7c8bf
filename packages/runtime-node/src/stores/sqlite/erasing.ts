import { StorageError } from "../storage-error.ts";
import { attempt, type Connection } from "./connection.ts";
import { isBusy, sqliteFailure } from "./failure.ts";
import type { SearchIndex } from "./search-index.ts";

/**
 * When what was deleted or rewritten is gone from the bytes of the file. `at-once`: before the call returns; the file is
 * written anew for it, which takes about 5 ms for each of its megabytes, and as much room again for the time.
 * `on-close`: when the store is closed, or the next one opened; for whoever deletes much, or has a large file. Entries
 * are overwritten where they stand either way: what takes the time is what SQLite leaves behind in unused bytes when it
 * moves things about, and the search index.
 */
export type Erasing = "at-once" | "on-close";

export interface Eraser {
  /** Within a transaction: something is to be erased after it. */
  readonly owe: () => void;
  /** Erases what is owed, or puts it off. `done` says what was done before. Throws a `StorageError` of kind `not-erased`. */
  readonly erase: (done: string) => void;
  /** Erases what is owed, if it can. */
  readonly settle: () => void;
}

export const eraserOf = (connection: Connection, index: SearchIndex, erasing: Erasing): Eraser => {
  const { database, path } = connection;
  const owe = database.prepare("UPDATE last_token SET unerased = unerased + 1");
  const owed = database.prepare("SELECT unerased FROM last_token");
  const paid = database.prepare("UPDATE last_token SET unerased = 0 WHERE unerased = ?");
  const settle = (): void => {
    // The column that the statement names; the driver types a row as any record.
    const { unerased } = owed.get() as { readonly unerased: number };
    if (unerased === 0) return;
    index.purge();
    database.exec("VACUUM");
    emptyLog(connection);
    paid.run(unerased);
  };
  return {
    owe: () => void owe.run(),
    erase: (done) =>
      attempt(connection, () => {
        try {
          if (erasing === "at-once") settle();
          else emptyLog(connection);
        } catch (error) {
          throw notErased(path, done, error);
        }
      }),
    settle: () => {
      try {
        settle();
      } catch {
        // It stays owed: the next that is deleted, and whoever opens the file, tries again.
      }
    },
  };
};

/** Whoever reads just now is waited for, as long as for a lock. */
const emptyLog = ({ database }: Connection): void => {
  const { busy } = database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() ?? {};
  if (busy !== 0) throw new Error("another process reads it");
};

const notErased = (path: string, done: string, error: unknown): StorageError => {
  const reason = isBusy(error) ? "another process kept the file locked" : messageOf(sqliteFailure(error, path));
  return new StorageError(
    "not-erased",
    `SQLite store "${path}": ${done}, but its words may still stand in bytes that are not in use: ${reason}. ` +
      "They go with the next call that deletes or rewrites anything, or when the file is opened again.",
    { cause: error },
  );
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
