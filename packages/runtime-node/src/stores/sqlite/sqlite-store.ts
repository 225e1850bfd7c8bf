import type { Clock, Store } from "@colloquy/host";
import type { DatabaseSync } from "node:sqlite";

import { systemClock } from "../../ports/clock.ts";
import { checkBusyTimeout, checkStoreOptions, checkWord } from "../store-options.ts";
import { connectionOver, nameOf } from "./connection.ts";
import { absolute, openSqlite, reserveOf } from "./database.ts";
import { eraserOf, type Erasing } from "./erasing.ts";
import { sqliteInbox } from "./inbox.ts";
import { appenderOf } from "./appending.ts";
import { sqliteJournals } from "./journals.ts";
import { sqliteLeases } from "./leases.ts";
import { sqliteListing } from "./listing.ts";
import { openedLater, type WholeStore } from "./opened-later.ts";
import { orphansOf } from "./orphans.ts";
import { sqliteParts } from "./parts.ts";
import { sqliteRemoving } from "./removing.ts";
import { searchIndex } from "./search-index.ts";
import { sqliteSearch } from "./searching.ts";
import { sqliteSnapshots } from "./snapshots.ts";

export interface SqliteStoreOptions {
  /** A file in a folder that exists, made when it is not there; or `":memory:"`, which ends with the store. */
  readonly path: string;
  /** What leases run out by. Default `systemClock`. Processes that share a file need clocks that roughly agree. */
  readonly clock?: Pick<Clock, "now">;
  /**
   * How long to wait for another process that holds the file's lock, in milliseconds; the whole process waits.
   * Default 5,000. After it a call fails with `StorageError` of kind `locked`.
   */
  readonly busyTimeoutMs?: number;
  /**
   * What an acknowledged append survives. `FULL`: the death of the process, of the operating system, and a power
   * cut (one flush to the disk for each append). `NORMAL`: the death of the process; after a power cut the newest
   * appends may be missing, and the file is sound. Default `FULL`, since a once-only tool relies on it.
   */
  readonly synchronous?: "NORMAL" | "FULL";
  /** When the bytes of what was deleted or rewritten are gone from the file. Default `at-once`. */
  readonly erasing?: Erasing;
}

/**
 * Journals in one SQLite file, which several processes may use at once. Thread ids may hold anything but lone
 * surrogates.
 *
 * The first call opens the file, or makes it. If it can't be opened, is no store, or was written by a newer version, the call is
 * rejected with a `StorageError`, and the next one tries again.
 *
 * @throws ConfigurationError for options that are invalid.
 */
export const sqliteStore = (options: SqliteStoreOptions): Store & AsyncDisposable => {
  const names = { path: true, clock: true, busyTimeoutMs: true, synchronous: true, erasing: true } as const;
  checkStoreOptions("sqliteStore", options, names, ["path"]);
  const {
    path: given = "",
    clock = systemClock,
    busyTimeoutMs = 5000,
    synchronous = "FULL",
    erasing = "at-once",
  } = options;
  checkBusyTimeout("sqliteStore", busyTimeoutMs);
  checkWord("sqliteStore: synchronous", synchronous, ["NORMAL", "FULL"]);
  checkWord("sqliteStore: erasing", erasing, ["at-once", "on-close"]);
  const path = absolute(given);
  return openedLater(nameOf(path), () => {
    const database = openSqlite({ path, busyTimeoutMs: Math.ceil(busyTimeoutMs), synchronous });
    return storeOver(database, { path, clock, erasing });
  });
};

/** A store over a database that `openSqlite` opened. */
export const storeOver = (
  database: DatabaseSync,
  options: Required<Pick<SqliteStoreOptions, "path" | "clock" | "erasing">>,
): WholeStore => {
  const { path, clock, erasing } = options;
  const reserve = reserveOf(path);
  const connection = connectionOver(database, path, clock, reserve);
  const leases = sqliteLeases(connection);
  const journals = sqliteJournals(connection);
  const snapshots = sqliteSnapshots(connection, leases, journals);
  const inbox = sqliteInbox(connection, leases);
  const parts = sqliteParts(connection, leases);
  const index = searchIndex(connection);
  const orphans = orphansOf(connection, index);
  const eraser = eraserOf(connection, index, orphans, erasing);
  eraser.settle();
  reserve.keep();
  const removing = sqliteRemoving(connection, { leases, journals, snapshots, inbox, parts, index, orphans, eraser });
  return {
    acquire: leases.acquire,
    renew: leases.renew,
    release: async (lease) => {
      await leases.release(lease);
      eraser.makeUp();
    },
    append: appenderOf(connection, journals),
    read: journals.read,
    rewrite: removing.rewrite,
    saveSnapshot: snapshots.saveSnapshot,
    readSnapshot: snapshots.readSnapshot,
    list: sqliteListing(connection, journals),
    search: sqliteSearch(connection, index),
    inbox,
    parts,
    delete: removing.delete,
    close: async () => {
      if (!database.isOpen) return;
      if (connection.file.isInPlace()) eraser.settle();
      database.close();
    },
  };
};
