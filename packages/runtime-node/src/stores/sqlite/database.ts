import { closeSync, constants, openSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath, pathToFileURL } from "node:url";

import { cannotOpen, sqliteFailure, whileBusy } from "./failure.ts";
import { migrate } from "./schema.ts";
import { type Reserve, reserveAt } from "../reserve.ts";
import { StorageError } from "@colloquy/host/store";

export interface SqliteDatabaseOptions {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly synchronous: "NORMAL" | "FULL";
}

/**
 * Room for what deleting writes, and for what the log holds when it is put into the file, which may grow by as much.
 * With `FULL` the log is put into the file when it has half as much.
 */
const reserveBytes = 2 ** 20;
const logPages = 64;

/** Returns a path by the working directory of now, whatever it is when the file is opened. */
export const absolute = (path: string): string =>
  path === "" || path === ":memory:" || path.startsWith("file:") ? path : resolve(path);

/** What is kept of the disk for a day on which it is full. */
export const reserveOf = (path: string): Reserve => {
  const file = fileOf(path);
  return reserveAt(file === null ? null : `${file}-reserve`, reserveBytes);
};

/** Opens the file, or makes it, ready for a store: newest schema, write-ahead log. Throws `StorageError`. */
export const openSqlite = (options: SqliteDatabaseOptions): DatabaseSync =>
  reserveOf(options.path).makingRoom(() => opened(options));

const opened = (options: SqliteDatabaseOptions): DatabaseSync => {
  const { path, busyTimeoutMs, synchronous } = options;
  const database = connect(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    // Entries of some hundred bytes fill larger pages better. Only a new file takes the size.
    database.exec("PRAGMA page_size = 8192");
    // What is deleted is overwritten, so that no file of the store holds the words of a deleted thread.
    database.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA secure_delete = ON`);
    // On macOS a flush without it ends in the memory of the disk.
    if (synchronous === "FULL") database.exec(`PRAGMA fullfsync = ON; PRAGMA wal_autocheckpoint = ${logPages}`);
    whileBusy(busyTimeoutMs, () => {
      migrate(database, path);
      database.exec("PRAGMA journal_mode = WAL");
    });
    return database;
  } catch (error) {
    database.close();
    throw sqliteFailure(error, path);
  }
};

const connect = (path: string): DatabaseSync => {
  if (path === "" || path.includes("\0")) {
    const problem = path === "" ? "the path is empty" : "the path holds a NUL";
    throw new StorageError(
      "cannot-open",
      `SQLite store ${JSON.stringify(path)}: ${problem}; name a file, or ":memory:".`,
    );
  }
  makeForUserAlone(path);
  try {
    return new DatabaseSync(path);
  } catch (error) {
    throw cannotOpen(error, path);
  }
};

/**
 * SQLite would make the file readable by all; what it makes beside it gets the rights of the file. One that is there is
 * not opened: when it is closed, the locks would go that SQLite has on it in this process.
 */
const makeForUserAlone = (path: string): void => {
  try {
    const file = fileOf(path);
    if (file !== null && statSync(file, { throwIfNoEntry: false }) === undefined)
      closeSync(openSync(file, constants.O_RDWR | constants.O_CREAT, 0o600));
  } catch {
    // SQLite can't make it either, and reports what is wrong.
  }
};

/** The file that SQLite writes for a path, or for a URI in its place; null where it writes none. */
const fileOf = (path: string): string | null => {
  if (path === ":memory:") return null;
  if (!path.startsWith("file:")) return resolve(path);
  const uri = URL.parse(path, pathToFileURL(`${process.cwd()}/`).href);
  if (uri === null || uri.host !== "" || uri.pathname.endsWith("/:memory:")) return null;
  return (uri.searchParams.get("mode") ?? "rwc") === "rwc" ? fileURLToPath(uri) : null;
};
