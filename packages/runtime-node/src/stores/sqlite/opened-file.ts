import type { Clock } from "@colloquy/host";
import { statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";

import { StorageError } from "@colloquy/host/store";

/**
 * The file that was opened, as long as its path leads to it. SQLite goes on with one that was deleted or moved, and then
 * what it acknowledges is gone when it is closed, and a process that opens the path has other leases.
 */
export interface OpenedFile {
  readonly isInPlace: () => boolean;
  /** Throws a `StorageError` where another file, or none, has taken its place. */
  readonly check: () => void;
  /** The same for what is done often: where appends are not flushed, it looks only when the last look is a while ago. */
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

/** Undefined where nothing is, or nothing that may be looked at. */
const identityOf = (location: string): string | undefined => {
  try {
    const there = statSync(location, { bigint: true, throwIfNoEntry: false });
    return there === undefined ? undefined : `${there.dev}:${there.ino}`;
  } catch {
    return undefined;
  }
};

/** Whether each append waits for the disk. Beside that a look of some 2 µs is nothing; it is a tenth of one that does not. */
const isFlushing = (database: DatabaseSync): boolean => {
  // The column that the statement names; the driver types a row as any record.
  const { synchronous } = database.prepare("PRAGMA synchronous").get() as { readonly synchronous: number };
  return synchronous >= 2;
};
