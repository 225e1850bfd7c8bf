import { StorageError } from "@colloquy/host/store";
import { attempt, type Connection } from "./connection.ts";
import { isBusy, messageOf, sqliteFailure } from "./failure.ts";
import type { Orphans } from "./orphans.ts";
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
  /** Records the same for entries of a deleted thread. */
  readonly oweOrphans: () => void;
  /**
   * Erases what is due, or postpones it. `done` describes the finished part for an error. Throws a `StorageError` of
   * kind `not-erased`.
   */
  readonly erase: (done: string) => void;
  /** Erases what is due, if possible. */
  readonly settle: () => void;
  /** Erases what another process prevented from being erased at once, if possible now. */
  readonly makeUp: () => void;
}

export const eraserOf = (connection: Connection, index: SearchIndex, orphans: Orphans, erasing: Erasing): Eraser => {
  const { database, path, reserve } = connection;
  const owe = database.prepare("UPDATE last_token SET unerased = unerased + 1");
  const oweOrphans = database.prepare(`UPDATE last_token SET unerased = unerased + ${orphansOwed}`);
  const swept = database.prepare(`UPDATE last_token SET unerased = unerased % ${orphansOwed} + 1 WHERE unerased = ?`);
  const owed = database.prepare("SELECT unerased FROM last_token");
  const paid = database.prepare("UPDATE last_token SET unerased = 0 WHERE unerased = ?");
  // The cast names the column of the statement; the driver types a row as any record. So below.
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
  const { timeout } = database.prepare("PRAGMA busy_timeout").get() as { readonly timeout: number };
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
