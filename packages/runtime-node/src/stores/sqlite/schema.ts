import type { DatabaseSync } from "node:sqlite";

import { StorageError } from "@colloquy/host/store";

/** The most entries of a thread. It leaves numbers for 134 million threads in safe integers. */
export const seqsPerThread: number = 2 ** 26;

/** The version of the schema, which `user_version` of a file has. It rises with each change of the schema. */
export const schemaVersion = 5;

// Tokens come from one counter, so that they keep growing after a thread is deleted and created again. The place of an
// entry is one integer, made of its thread's number and its seq. So the table is one tree in reading order, without a
// thread id in each row. A WITHOUT ROWID table would store rows of over a quarter page elsewhere; the parts of a
// snapshot are as large. Bodies are text, so that any SQLite tool can read a journal through the view.
//
// The row of a thread contains its facts for listings, indexed in listing order. `searched` is the seq of the newest
// indexed entry, and `unsearched` says whether there may be newer ones. `unerased` counts deletions whose text may remain
// in unused bytes of the file; 0 for none. `holder` is the name of the holder's process lock, by which other processes
// check whether the holder is alive. The shown parts of turns refer to the thread by its id, since a thread without
// entries may have parts to delete.
const schema = `
  CREATE TABLE threads (
    id INTEGER PRIMARY KEY, thread TEXT NOT NULL UNIQUE, created_at REAL NOT NULL DEFAULT 0,
    metadata TEXT NOT NULL DEFAULT '{}', searched INTEGER NOT NULL DEFAULT -1, unsearched INTEGER NOT NULL DEFAULT 1
  ) STRICT;
  CREATE INDEX threads_by_creation ON threads (created_at, thread);
  CREATE TABLE entries (place INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
  CREATE VIEW journal AS
    SELECT thread, place % ${seqsPerThread} AS seq, body FROM entries JOIN threads ON id = place / ${seqsPerThread};
  CREATE TABLE leases (
    thread TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, token INTEGER NOT NULL, expires_at REAL NOT NULL, holder TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE last_token (token INTEGER NOT NULL, unerased INTEGER NOT NULL DEFAULT 0) STRICT;
  INSERT INTO last_token (token) VALUES (0);
  CREATE TABLE snapshots (
    thread INTEGER NOT NULL, part TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (thread, part)
  ) STRICT;
  CREATE TABLE letters (
    thread TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, letter TEXT, answer TEXT,
    PRIMARY KEY (thread, number)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE parts (
    thread TEXT NOT NULL, token INTEGER NOT NULL, number INTEGER NOT NULL, turn INTEGER NOT NULL, until REAL NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (thread, token, number)
  ) STRICT, WITHOUT ROWID;`;

/** SQL for the seq of a thread's newest entry, in a query on `threads`. It uses the primary key. */
export const newestSeq: string = `(SELECT max(place) FROM entries
  WHERE place BETWEEN id * ${seqsPerThread} AND (id + 1) * ${seqsPerThread} - 1) % ${seqsPerThread}`;

/**
 * Makes the schema of a new file, in one transaction, and checks that the file is writable. If two processes do so at
 * once, the second waits and finds it done. Throws `StorageError` for a file with another version of the schema, and for
 * one that belongs to other software.
 */
export const makeSchema = (database: DatabaseSync, path: string): void => {
  database.exec("BEGIN IMMEDIATE");
  try {
    const version = numberOf(database, "PRAGMA user_version");
    refuseForeign(database, path, version);
    if (version === 0) database.exec(schema);
    else if (version !== schemaVersion) throw otherVersion(path, version);
    // Always written, since a read-only file fails only on a write.
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
};

/** "Clqy", by which `file` and this store recognise a store among databases. */
const applicationId = 0x436c7179;

const refuseForeign = (database: DatabaseSync, path: string, version: number): void => {
  const owner = numberOf(database, "PRAGMA application_id");
  if (owner === applicationId) return;
  if (owner === 0 && version === 0 && numberOf(database, "SELECT count(*) FROM sqlite_schema") === 0) return;
  throw new StorageError(
    "not-a-store",
    `SQLite store "${path}": the database there belongs to something else; choose a path for conversations alone.`,
  );
};

const otherVersion = (path: string, version: number): StorageError =>
  new StorageError(
    version > schemaVersion ? "newer" : "older",
    `SQLite store "${path}": it has schema ${version}, and this version of @colloquy/runtime-node reads only ${schemaVersion}; ` +
      `${version > schemaVersion ? "update the package" : "read it with the version that wrote it"}.`,
  );

/** Reads a number. Any other value becomes NaN, which is neither an id nor a version of ours. */
const numberOf = (database: DatabaseSync, sql: string): number =>
  Number(Object.values(database.prepare(sql).get() ?? {})[0]);
