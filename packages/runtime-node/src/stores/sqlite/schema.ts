import type { DatabaseSync } from "node:sqlite";

import { StorageError } from "@colloquy/host/store";

/** How many entries a thread can have. With it, 134 million threads fit into the integers that JavaScript knows exactly. */
export const seqsPerThread: number = 2 ** 26;

/**
 * Every step of the schema, oldest first. `user_version` counts those that a file has seen. A step that was
 * released is never edited: what comes later is appended.
 */
export const steps: readonly string[] = [
  // Tokens come from one counter, so that they keep growing when a thread is deleted and made again.
  // An entry's place is one integer, its thread's number and its seq: the table is one tree in the order in which it
  // is read, without a thread id on each row. A WITHOUT ROWID table would keep rows of over a quarter page elsewhere.
  // Bodies stay text, so that a journal can be read with any SQLite tool, by way of the view.
  `CREATE TABLE threads (id INTEGER PRIMARY KEY, thread TEXT NOT NULL UNIQUE) STRICT;
   CREATE TABLE entries (place INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
   CREATE VIEW journal AS
     SELECT thread, place % ${seqsPerThread} AS seq, body FROM entries JOIN threads ON id = place / ${seqsPerThread};
   CREATE TABLE leases (
     thread TEXT NOT NULL PRIMARY KEY, owner TEXT NOT NULL, token INTEGER NOT NULL, expires_at REAL NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE last_token (token INTEGER NOT NULL) STRICT;
   INSERT INTO last_token VALUES (0);`,
  // What a listing says of a thread stands in its row, in the order in which threads are listed. `searched` is the seq
  // of the newest entry that the search knows, `unsearched` whether there may be one after it.
  // `unerased` counts what was deleted and may still stand in unused bytes of the file; 0 for nothing.
  // Few pages are added: an empty table takes one of them. Parts of a snapshot are large, and large rows take less room
  // in a table with rowids.
  `ALTER TABLE threads ADD COLUMN created_at REAL NOT NULL DEFAULT 0;
   ALTER TABLE threads ADD COLUMN metadata TEXT NOT NULL DEFAULT '{}';
   ALTER TABLE threads ADD COLUMN searched INTEGER NOT NULL DEFAULT -1;
   ALTER TABLE threads ADD COLUMN unsearched INTEGER NOT NULL DEFAULT 1;
   UPDATE threads SET
     created_at = coalesce((SELECT body ->> '$.event.at' FROM entries
       WHERE place = id * ${seqsPerThread} AND json_valid(body)
         AND json_type(body, '$.event.at') IN ('integer', 'real')), 0),
     metadata = coalesce((SELECT body -> '$.event.metadata' FROM entries
       WHERE place = id * ${seqsPerThread} AND json_valid(body)
         AND json_type(body, '$.event.metadata') = 'object'), '{}');
   CREATE INDEX threads_by_creation ON threads (created_at, thread);
   CREATE TABLE snapshots (
     thread INTEGER NOT NULL, part TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (thread, part)
   ) STRICT;
   CREATE TABLE letters (
     thread TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, letter TEXT, answer TEXT,
     PRIMARY KEY (thread, number)
   ) STRICT, WITHOUT ROWID;
   ALTER TABLE last_token ADD COLUMN unerased INTEGER NOT NULL DEFAULT 0;`,
  // What was shown of turns; by thread, since it may be deleted with one that has no entry.
  `CREATE TABLE parts (
     thread TEXT NOT NULL, token INTEGER NOT NULL, number INTEGER NOT NULL, turn INTEGER NOT NULL, until REAL NOT NULL,
     body TEXT NOT NULL, PRIMARY KEY (thread, token, number)
   ) STRICT, WITHOUT ROWID;`,
  // The lock of the store that took it, by which others see whether its process lives.
  `ALTER TABLE leases ADD COLUMN holder TEXT;`,
];

/** SQL for the seq of the newest entry of the row of `threads` at hand; by the primary key, so it costs the same however long the thread is. */
export const newestSeq: string = `(SELECT max(place) FROM entries
  WHERE place BETWEEN id * ${seqsPerThread} AND (id + 1) * ${seqsPerThread} - 1) % ${seqsPerThread}`;

/**
 * Brings a file up to the newest schema, in one transaction, and proves that it can be written. Two processes may
 * do it at the same moment: the second waits, and finds it done. Throws `StorageError` for a file that a newer
 * version wrote, and for one that belongs to something else.
 */
export const migrate = (database: DatabaseSync, path: string, schema: readonly string[] = steps): void => {
  database.exec("BEGIN IMMEDIATE");
  try {
    const version = numberOf(database, "PRAGMA user_version");
    refuseForeign(database, path, version);
    if (version > schema.length) throw newer(path, version, schema.length);
    for (const step of schema.slice(version)) database.exec(step);
    // Written even when nothing changed: it is what a read-only file refuses.
    database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schema.length}; COMMIT`);
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
};

/** "Clqy", by which `file` and this store know a store among databases. */
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

const newer = (path: string, version: number, known: number): StorageError =>
  new StorageError(
    "newer",
    `SQLite store "${path}": it has schema ${version}, and this version of @colloquy/runtime-node knows up to ${known}; ` +
      "update the package.",
  );

const numberOf = (database: DatabaseSync, sql: string): number => {
  const value = Object.values(database.prepare(sql).get() ?? {})[0];
  if (typeof value !== "number") throw new TypeError(`${sql}: expected a number, got ${String(value)}`);
  return value;
};
