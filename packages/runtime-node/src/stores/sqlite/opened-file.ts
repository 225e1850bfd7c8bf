import type { Clock } from "@colloquy/host";
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

import { StorageError } from "@colloquy/host/store";

/**
 * The opened file, while its path leads to it. SQLite continues to use a file that was deleted or moved. Then its
 * acknowledged writes are lost on closing, and a process that opens the path has other leases.
 */
export interface OpenedFile {
  readonly isInPlace: () => boolean;
  /** Throws a `StorageError` if another file, or none, is in its place. */
  readonly check: () => void;
  /**
   * Does the same for frequent operations. If appends are not flushed, it skips the check when the last one was recent.
   */
  readonly checkNowAndThen: () => void;
}

export const openedFile = (database: DatabaseSync, path: string, clock: Pick<Clock, "now">): OpenedFile => {
  // Null for a database in memory.
  const location = database.location();
  const opened = location === null ? undefined : identityOf(location);
  const unseenMs = isFlushing(database) ? 0 : 100;
  let checkedAt = -Infinity;
  const isInPlace = (): boolean => opened === undefined || location === null || identityOf(location) === opened;
  const check = (): void => {
    checkedAt = clock.now();
    if (isInPlace()) return;
    checkedAt = -Infinity;
    throw new StorageError(
      "cannot-open",
      `SQLite store "${path}": the file that was opened was deleted or moved, or another has taken its place; what would be written now would be lost. Put it back, or stop all processes that use it and open the store again.`,
    );
  };
  return {
    isInPlace,
    check,
    checkNowAndThen: () => {
      const since = clock.now() - checkedAt;
      if (!(since >= 0 && since < unseenMs)) check();
    },
  };
};

/** Returns undefined if the file does not exist or may not be read. */
const identityOf = (location: string): string | undefined => {
  try {
    const there = statSync(location, { bigint: true, throwIfNoEntry: false });
    return there === undefined ? undefined : `${there.dev}:${there.ino}`;
  } catch {
    return undefined;
  }
};

/**
 * Checks whether each append waits for the disk. Compared with that, a file check of some 2 µs is negligible; for an
 * unflushed append it is a tenth of the time.
 */
const isFlushing = (database: DatabaseSync): boolean => {
  // The cast names the column of the statement; the driver types a row as any record.
  const { synchronous } = database.prepare("PRAGMA synchronous").get() as { readonly synchronous: number };
  return synchronous >= 2;
};
