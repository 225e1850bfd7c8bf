import { closeSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";

import { ProcessLock } from "../process-lock.ts";
import { whileBusy } from "../sqlite/failure.ts";
import { StorageError } from "@colloquy/host/store";
import { checkFile, createAnew, lookAt, openFile, partEnding } from "./disk.ts";
import { reasonAgainst } from "./failure.ts";

/**
 * The leases of a folder, and the lock for changes to its files.
 *
 * Both use one small SQLite file, since the operating system holds its lock. The lock ends with its process, however
 * that died, so that no process has to guess whether it is stale. A process that is suspended while it holds the lock
 * keeps it and continues later: no other process came between its check of the lease and its write.
 */
export interface Leases {
  /**
   * Runs `operation` while no other process changes anything in the folder. Its changes to leases are kept if it
   * returns, and rolled back if it throws. It must be synchronous.
   */
  exclusively<A>(operation: (leases: HeldLeases) => A): A;
  /** Throws a `StorageError` if the leases were closed, or the folder is missing. */
  check(): void;
  close(): void;
}

/** The operations on leases under the lock. */
export interface HeldLeases {
  /** Returns the holder of a lease; undefined if there is none or its process is gone. */
  readonly holder: (threadId: string) => { readonly owner: string; readonly until: number } | undefined;
  /** Grants a lease, and returns a token greater than all earlier ones. */
  readonly grant: (threadId: string, owner: string, until: number) => number;
  /** Returns false if the lease does not exist. */
  readonly renew: (threadId: string, token: number, until: number) => boolean;
  readonly release: (threadId: string, token: number) => void;
  /** Returns when the lease of a token expires; undefined if it is not the newest. */
  readonly until: (threadId: string, token: number) => number | undefined;
  readonly forget: (threadId: string) => void;
}

/** Returns leases that are opened at their first use. If that fails, the next use tries again. */
export const leasesLater = (folder: string, open: () => Leases): Leases => {
  let opened: Leases | null = null;
  let isClosed = false;
  const leases = (): Leases => {
    if (isClosed && opened === null) throw closed(folder);
    return (opened ??= open());
  };
  return {
    exclusively: (operation) => leases().exclusively(operation),
    check: () => leases().check(),
    close: () => {
      isClosed = true;
      opened?.close();
    },
  };
};

/** Opens the leases of an existing folder, or creates them. */
export const openLeases = (folder: string, busyTimeoutMs: number): Leases => {
  const lock = new ProcessLock(`${leasesOf(folder)}-holder-`);
  let connection: Connection | null = connect(folder, busyTimeoutMs, lock);
  const connected = (): Connection => {
    if (connection === null) throw closed(folder);
    const there = lookAt(leasesOf(folder));
    if (there === undefined) throw away(folder);
    if (there.ino === connection.fileNumber) return connection;
    // Another file is in its place, as after a disk was mounted again. Other processes hold the lock of that file.
    const replaced = connection;
    connection = connect(folder, busyTimeoutMs, lock);
    replaced.database.close();
    return connection;
  };
  return {
    exclusively: (operation) => {
      const { database, begin, commit, held } = connected();
      begin.run();
      try {
        const result = operation(held);
        commit.run();
        return result;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    check: () => void connected(),
    close: () => {
      lock.close();
      connection?.database.close();
      connection = null;
    },
  };
};

interface Connection {
  readonly database: DatabaseSync;
  /** The inode of the open file. */
  readonly fileNumber: number;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
  readonly held: HeldLeases;
}

const connect = (folder: string, busyTimeoutMs: number, lock: ProcessLock): Connection => {
  const reason = reasonAgainst(folder);
  if (reason !== null) throw new StorageError("cannot-open", `files store "${folder}": ${reason}.`);
  const path = leasesOf(folder);
  // SQLite would open a read-only file, and fail only at the first lease.
  closeSync(createAnew(path + partEnding));
  rmSync(path + partEnding, { force: true });
  create(path);
  const database = new DatabaseSync(path);
  try {
    prepare(database, folder, busyTimeoutMs);
    return {
      database,
      fileNumber: lookAt(path)?.ino ?? 0,
      begin: database.prepare("BEGIN IMMEDIATE"),
      commit: database.prepare("COMMIT"),
      held: heldLeases(database, lock),
    };
  } catch (error) {
    database.close();
    throw error;
  }
};

/**
 * Creates the file. SQLite would make it readable by all users and follow a link. The files that SQLite adds get the
 * same rights. An existing file is not opened here: closing it would drop the locks that SQLite has on it in this
 * process.
 */
const create = (path: string): void => {
  checkFile(path);
  if (lookAt(path) !== undefined) return;
  try {
    closeSync(openFile(path, "create"));
  } catch (error) {
    // Another process may have created it at the same moment.
    if (lookAt(path)?.isFile() !== true) throw error;
  }
};

/**
 * Prepares the database. Leases matter only to live processes, and no process survives a power cut, so they are not
 * flushed to the disk. The write-ahead log still keeps the file consistent.
 */
const prepare = (database: DatabaseSync, folder: string, busyTimeoutMs: number): void => {
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA synchronous = NORMAL`);
  whileBusy(busyTimeoutMs, () => {
    try {
      database.exec("BEGIN IMMEDIATE");
      const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
      if (version === 0) database.exec(schema);
      database.exec("COMMIT; PRAGMA journal_mode = WAL");
      if (version !== 0 && version !== leasesVersion) throw otherVersion(folder, Number(version));
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  });
};

const leasesVersion = 2;

/**
 * Tokens come from one counter, so that they keep growing after a thread is deleted and created again. `holder` is the
 * name of the holder's process lock, by which other processes check whether the holder is alive.
 */
const schema = `
  CREATE TABLE leases (
    thread TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, token INTEGER NOT NULL, until REAL NOT NULL, holder TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE last_token (token INTEGER NOT NULL) STRICT;
  INSERT INTO last_token VALUES (0);
  PRAGMA user_version = ${leasesVersion};`;

/** Prepares the statements. The casts repeat the schema, whose tables are STRICT. */
const heldLeases = (database: DatabaseSync, lock: ProcessLock): HeldLeases => {
  const holder = database.prepare("SELECT owner, until, holder FROM leases WHERE thread = ?");
  const nextToken = database.prepare("UPDATE last_token SET token = token + 1 RETURNING token");
  const grant = database.prepare(
    "INSERT OR REPLACE INTO leases (thread, owner, token, until, holder) VALUES (?, ?, ?, ?, ?)",
  );
  const renew = database.prepare("UPDATE leases SET until = ? WHERE thread = ? AND token = ?");
  const release = database.prepare("DELETE FROM leases WHERE thread = ? AND token = ?");
  const until = database.prepare("SELECT until FROM leases WHERE thread = ? AND token = ?");
  const forget = database.prepare("DELETE FROM leases WHERE thread = ?");
  return {
    holder: (threadId) => {
      const held = holder.get(threadId) as HeldRow | undefined;
      return held !== undefined && lock.isHeld(held.holder) ? held : undefined;
    },
    grant: (threadId, owner, end) => {
      const { token } = nextToken.get() as { readonly token: number };
      grant.run(threadId, owner, token, end, lock.name);
      return token;
    },
    renew: (threadId, token, end) => renew.run(end, threadId, token).changes === 1,
    release: (threadId, token) => void release.run(threadId, token),
    until: (threadId, token) => (until.get(threadId, token) as { readonly until: number } | undefined)?.until,
    forget: (threadId) => void forget.run(threadId),
  };
};

interface HeldRow {
  readonly owner: string;
  readonly until: number;
  readonly holder: string | null;
}

const leasesOf = (folder: string): string => join(folder, "leases.db");

const closed = (folder: string): StorageError =>
  new StorageError("closed", `files store "${folder}": it was closed; open it again.`);

const away = (folder: string): StorageError =>
  new StorageError(
    "cannot-open",
    existsSync(folder)
      ? `files store "${folder}": its leases.db is gone; put the folder back as it was, or open the store again to begin a new one.`
      : `files store "${folder}": the folder is gone; put it back.`,
  );

const otherVersion = (folder: string, version: number): StorageError =>
  new StorageError(
    version > leasesVersion ? "newer" : "older",
    `files store "${folder}": its leases.db has version ${version}, and this version of @colloquy/runtime-node reads only ${leasesVersion}; ` +
      `${version > leasesVersion ? "update the package" : "read it with the version that wrote it"}.`,
  );
