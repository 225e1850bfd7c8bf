import { closeSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";

import { whileBusy } from "../sqlite/failure.ts";
import { StorageError } from "@colloquy/host/store";
import { checkFile, createAnew, lookAt, openFile, partEnding } from "./disk.ts";
import { reasonAgainst } from "./failure.ts";

/**
 * The leases of a folder, and the lock under which its files are changed.
 *
 * Both are in one small SQLite file, for the sake of its lock: it belongs to the operating system, so that it ends with the
 * process that holds it, however that died, and no process has to guess from a process id whether a lock is stale. A
 * process that is stopped while it holds the lock keeps it, and goes on where it stood: no other process came between its
 * check of the lease and its write.
 */
export interface Leases {
  /**
   * Runs `operation` while no other process changes anything in the folder. What it does to leases is kept when it
   * returns, and undone when it throws. It must not wait for anything.
   */
  exclusively<A>(operation: (leases: HeldLeases) => A): A;
  /** Throws a `StorageError` once it was closed, and while the folder is away. */
  check(): void;
  close(): void;
}

/** What can be done with leases under the lock. */
export interface HeldLeases {
  readonly holder: (threadId: string) => { readonly owner: string; readonly until: number } | undefined;
  /** A token greater than all before it. */
  readonly grant: (threadId: string, owner: string, until: number) => number;
  /** False when there is no such lease. */
  readonly renew: (threadId: string, token: number, until: number) => boolean;
  readonly release: (threadId: string, token: number) => void;
  /** When the lease of this token runs out; undefined when it is not the newest. */
  readonly until: (threadId: string, token: number) => number | undefined;
  readonly forget: (threadId: string) => void;
}

/** Leases that are opened when they are first used; if they can't be opened, again when they are next used. */
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

/** Opens the leases of a folder that is there, or makes them. */
export const openLeases = (folder: string, busyTimeoutMs: number): Leases => {
  let connection: Connection | null = connect(folder, busyTimeoutMs);
  const connected = (): Connection => {
    if (connection === null) throw closed(folder);
    const there = lookAt(leasesOf(folder));
    if (there === undefined) throw away(folder);
    if (there.ino === connection.fileNumber) return connection;
    // Another file has taken its place, as when a disk was mounted again. Its lock is the one that others hold.
    const replaced = connection;
    connection = connect(folder, busyTimeoutMs);
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
      connection?.database.close();
      connection = null;
    },
  };
};

interface Connection {
  readonly database: DatabaseSync;
  /** The inode of the file that is open. */
  readonly fileNumber: number;
  readonly begin: StatementSync;
  readonly commit: StatementSync;
  readonly held: HeldLeases;
}

const connect = (folder: string, busyTimeoutMs: number): Connection => {
  const reason = reasonAgainst(folder);
  if (reason !== null) throw new StorageError("cannot-open", `files store "${folder}": ${reason}.`);
  const path = leasesOf(folder);
  // SQLite would open what may only be read, and say so at the first lease.
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
      held: heldLeases(database),
    };
  } catch (error) {
    database.close();
    throw error;
  }
};

/**
 * SQLite would make the file readable by all, and would follow a link there. What it makes beside it gets the rights of
 * the file. One that is there is not opened: when it is closed, the locks would go that SQLite has on it in this process.
 */
const create = (path: string): void => {
  checkFile(path);
  if (lookAt(path) !== undefined) return;
  try {
    closeSync(openFile(path, "create"));
  } catch (error) {
    // Another process may have made it at that moment.
    if (lookAt(path)?.isFile() !== true) throw error;
  }
};

/**
 * A lease matters only to processes that live, and none outlives a power cut: so leases are not flushed to the disk.
 * The write-ahead log keeps the file whole all the same.
 */
const prepare = (database: DatabaseSync, folder: string, busyTimeoutMs: number): void => {
  database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}; PRAGMA synchronous = NORMAL`);
  whileBusy(busyTimeoutMs, () => {
    try {
      database.exec("BEGIN IMMEDIATE");
      const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
      if (version === 0) database.exec(schema);
      database.exec("COMMIT; PRAGMA journal_mode = WAL");
      if (version !== 0 && version !== 1) throw newer(folder, version);
    } catch (error) {
      if (database.isTransaction) database.exec("ROLLBACK");
      throw error;
    }
  });
};

/** Tokens come from one counter, so that they keep growing when a thread is deleted and made again. */
const schema = `
  CREATE TABLE leases (
    thread TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, token INTEGER NOT NULL, until REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE last_token (token INTEGER NOT NULL) STRICT;
  INSERT INTO last_token VALUES (0);
  PRAGMA user_version = 1`;

/** The casts say what the schema says: its tables are STRICT. */
const heldLeases = (database: DatabaseSync): HeldLeases => {
  const holder = database.prepare("SELECT owner, until FROM leases WHERE thread = ?");
  const nextToken = database.prepare("UPDATE last_token SET token = token + 1 RETURNING token");
  const grant = database.prepare("INSERT OR REPLACE INTO leases (thread, owner, token, until) VALUES (?, ?, ?, ?)");
  const renew = database.prepare("UPDATE leases SET until = ? WHERE thread = ? AND token = ?");
  const release = database.prepare("DELETE FROM leases WHERE thread = ? AND token = ?");
  const until = database.prepare("SELECT until FROM leases WHERE thread = ? AND token = ?");
  const forget = database.prepare("DELETE FROM leases WHERE thread = ?");
  return {
    holder: (threadId) => holder.get(threadId) as ReturnType<HeldLeases["holder"]>,
    grant: (threadId, owner, end) => {
      const { token } = nextToken.get() as { readonly token: number };
      grant.run(threadId, owner, token, end);
      return token;
    },
    renew: (threadId, token, end) => renew.run(end, threadId, token).changes === 1,
    release: (threadId, token) => void release.run(threadId, token),
    until: (threadId, token) => (until.get(threadId, token) as { readonly until: number } | undefined)?.until,
    forget: (threadId) => void forget.run(threadId),
  };
};

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

const newer = (folder: string, version: unknown): StorageError =>
  new StorageError(
    "newer",
    `files store "${folder}": its leases.db has version ${String(version)}, and this version of @colloquy/runtime-node knows 1; update the package.`,
  );
