import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { fileURLToPath, pathToFileURL } from "node:url";

import { cannotOpen, sqliteFailure, whileBusy } from "./failure.ts";
import { makeSchema } from "./schema.ts";
import { type Reserve, reserveAt } from "../reserve.ts";
import { StorageError } from "@colloquy/host/store";
import { fs, sqlite } from "../../ports/system.ts";

export interface SqliteDatabaseOptions {
  readonly path: string;
  readonly busyTimeoutMs: number;
  readonly synchronous: "NORMAL" | "FULL";
}

/**
 * Room for the writes of a deletion, and for copying the log into the file, which may grow by the log's size. With
 * `FULL` the log is copied when it has half that size.
 */
const reserveBytes = 2 ** 20;
const logPages = 64;

/** Resolves a path by the present working directory, which may change before the file is opened. */
export const absolute = (path: string | undefined = ""): string =>
  path === "" || path === ":memory:" || path.startsWith("file:") ? path : resolve(path);

export const reserveOf = (path: string): Reserve => {
  const file = fileOf(path);
  return reserveAt(file === null ? null : `${file}-reserve`, reserveBytes);
};

/** Opens or creates the file, with the newest schema and a write-ahead log. Throws `StorageError`. */
export const openSqlite = (options: SqliteDatabaseOptions): DatabaseSync =>
  reserveOf(options.path).makingRoom(() => opened(options));

const opened = (options: SqliteDatabaseOptions): DatabaseSync => {
  const { path, busyTimeoutMs, synchronous } = options;
  const database = connect(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    // Larger pages have less waste for entries of some hundred bytes. Only a new file takes this size.
    database.exec("PRAGMA page_size = 8192");
    // Overwrite deleted data, so that the file contains no text of a deleted thread.
    database.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA secure_delete = ON`);
    // Without it, macOS flushes only to the memory of the disk.
    if (synchronous === "FULL") database.exec(`PRAGMA fullfsync = ON; PRAGMA wal_autocheckpoint = ${logPages}`);
    whileBusy(busyTimeoutMs, () => {
      makeSchema(database, path);
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
    return new (sqlite().DatabaseSync)(path);
  } catch (error) {
    throw cannotOpen(error, path);
  }
};

/**
 * Creates the file for the user alone. SQLite would make it readable by all users; the files that SQLite adds get the
 * same rights. An existing file is not opened here: closing it would drop the locks that SQLite has on it in this
 * process.
 */
const makeForUserAlone = (path: string): void => {
  try {
    const file = fileOf(path);
    if (file !== null && fs.statSync(file, { throwIfNoEntry: false }) === undefined)
      fs.closeSync(fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600));
  } catch {
    // SQLite cannot create it either, and reports why.
  }
};

/** Returns the file that SQLite writes for a path or URI; null if it writes none. */
const fileOf = (path: string): string | null => {
  if (path === ":memory:") return null;
  if (!path.startsWith("file:")) return resolve(path);
  const uri = URL.parse(path, pathToFileURL(`${process.cwd()}/`).href);
  if (uri === null || uri.host !== "" || uri.pathname.endsWith("/:memory:")) return null;
  return (uri.searchParams.get("mode") ?? "rwc") === "rwc" ? fileURLToPath(uri) : null;
};
