import { dirname } from "node:path";

import { StorageError, type StorageProblem } from "@colloquy/host/store";
import { fs } from "../../ports/system.ts";

/** Turns an error of SQLite into one that names the file and a remedy. Other errors are returned unchanged. */
export const sqliteFailure = (error: unknown, path: string): unknown => {
  const code = resultCodeOf(error);
  if (code === undefined) return error;
  const [kind, advice] = failures[isShortOfRoom(error) ? resultCodes.full : code] ?? ["failed", messageOf(error)];
  return new StorageError(kind, `SQLite store "${path}": ${advice}.`, { cause: error });
};

/** Explains why `path` cannot be opened, as SQLite gives no reason. */
export const cannotOpen = (error: unknown, path: string): unknown => {
  if (resultCodeOf(error) !== resultCodes.cannotOpen) return sqliteFailure(error, path);
  return new StorageError("cannot-open", `SQLite store "${path}": ${reasonAgainst(path)}.`, { cause: error });
};

/** Checks whether another connection holds the needed lock. */
export const isBusy = (error: unknown): boolean => {
  const code = resultCodeOf(error);
  return code === resultCodes.busy || code === resultCodes.locked;
};

/**
 * Retries while the database is busy. SQLite does not wait for a lock when that might deadlock, as when two processes
 * open a new file and both switch it to WAL. Then one fails at once and only has to try again.
 */
export const whileBusy = (timeoutMs: number, open: () => void): void => {
  // Not by `performance`, which the first use in a process loads: a fiftieth of opening a store and a long thread.
  const stopAt = process.uptime() + timeoutMs / 1000;
  for (;;) {
    try {
      return open();
    } catch (error) {
      if (!isBusy(error) || process.uptime() >= stopAt) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    }
  }
};

const pauseMs = 5;

/** Checks for a full disk: the memory that processes share is a file, for which there is no room. */
const isShortOfRoom = (error: unknown): boolean =>
  error instanceof Error && "errcode" in error && error.errcode === (resultCodes.io | (19 << 8));

const resultCodes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  io: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
};

const failures: { readonly [code: number]: readonly [StorageProblem, string] | undefined } = {
  [resultCodes.busy]: [
    "locked",
    "another process kept it locked for longer than busyTimeoutMs; try again, or allow more",
  ],
  [resultCodes.locked]: ["locked", "another connection kept it locked; try again"],
  [resultCodes.readOnly]: [
    "read-only",
    "it may only be read; give this process the right to write the file and its folder, or choose another path",
  ],
  [resultCodes.io]: ["io", "the disk refused to read or write; look at the disk and its quota"],
  [resultCodes.corrupt]: [
    "corrupt",
    "the file is damaged; restore it from a backup, or salvage it with `sqlite3 <file> .recover`",
  ],
  [resultCodes.full]: ["full", "the disk is full; make room and try again"],
  [resultCodes.cannotOpen]: [
    "cannot-open",
    "a file beside it (-wal, -shm) can't be opened; look at the rights of its folder",
  ],
  [resultCodes.notADatabase]: ["not-a-store", "the file is not a SQLite database; choose another path"],
};

/** Returns the primary result code, which an extended code contains in its low byte. */
const resultCodeOf = (error: unknown): number | undefined =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const reasonAgainst = (path: string): string => {
  if (isDirectory(path) === true) return "it is a directory; name a file in it";
  if (isDirectory(path) === false) return "the file can't be opened; look at its rights";
  const folder = dirname(path);
  const there = isDirectory(folder);
  if (there === undefined) return `the folder "${folder}" does not exist, or may not be entered; create it first`;
  return there ? `no file can be made in "${folder}"; look at its rights` : `"${folder}" is not a folder`;
};

/** Returns undefined if the path does not exist or may not be read. */
const isDirectory = (path: string): boolean | undefined => {
  try {
    return fs.statSync(path, { throwIfNoEntry: false })?.isDirectory();
  } catch {
    return undefined;
  }
};
