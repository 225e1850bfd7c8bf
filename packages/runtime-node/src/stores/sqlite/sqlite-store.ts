import type { Clock, Store } from "@colloquy/host";
import { kinds } from "@colloquy/host/store";
import type { DatabaseSync } from "node:sqlite";

import { systemClock } from "../../ports/system.ts";
import { checkStoreOptions, fileStoreKinds } from "../store-options.ts";
import { commitsOf } from "./commits.ts";
import { connectionOver, nameOf } from "./connection.ts";
import { absolute, openSqlite, reserveOf } from "./database.ts";
import { eraserOf, type Erasing } from "./erasing.ts";
import { sqliteInbox } from "./inbox.ts";
import { appenderOf, type Journals, sqliteJournals } from "./journals.ts";
import { sqliteLeases } from "./leases.ts";
import { sqliteListing } from "./listing.ts";
import { openedLater, type WholeStore } from "./opened-later.ts";
import { sqliteParts } from "./parts.ts";
import { type PartsOfThreads, sqliteRemoving } from "./removing.ts";
import { searchIndex, sqliteSearch } from "./search-index.ts";
import { sqliteSnapshots } from "./snapshots.ts";

export interface SqliteStoreOptions {
  /** A file in an existing folder, created if missing; or `":memory:"`, which ends with the store. */
  readonly path: string;
  /** The clock that ends leases. Default `systemClock`. Processes that share a file need clocks that roughly agree. */
  readonly clock?: Pick<Clock, "now">;
  /**
   * How long to wait for another process that holds the file's lock, in milliseconds. The whole process waits. Default
   * 5,000. After that a call fails with a `StorageError` of kind `locked`.
   */
  readonly busyTimeoutMs?: number;
  /**
   * How durable an acknowledged append is. `FULL`: it survives a crash of the process or the operating system, and a
   * power cut (one flush to the disk for each append, or for those of several threads together). `NORMAL`: it survives a crash of the process; a power cut may
   * lose the newest appends, but the file stays valid. Default `FULL`, since a once-only tool relies on it.
   */
  readonly synchronous?: "NORMAL" | "FULL";
  /** When deleted or rewritten text disappears from the bytes of the file. Default `at-once`. */
  readonly erasing?: Erasing;
}

/**
 * Creates a store of journals in one SQLite file, which several processes may use at once. Thread ids may contain
 * anything but lone surrogates.
 *
 * The first call opens or creates the file. If the file cannot be opened, is not a store or was written by a newer
 * version, that call rejects with a `StorageError`, and the next call tries again.
 *
 * @throws ConfigurationError for invalid options.
 */
export const sqliteStore = (options: SqliteStoreOptions): Store & AsyncDisposable => {
  checkStoreOptions("sqliteStore", options, { path: kinds.anyText, ...fileStoreKinds }, ["path"]);
  const { clock = systemClock, busyTimeoutMs = 5000, synchronous = "FULL", erasing = "at-once" } = options;
  const path = absolute(options.path);
  const open = () => {
    const database = openSqlite({ path, busyTimeoutMs: Math.ceil(busyTimeoutMs), synchronous });
    return storeOver(database, { path, clock, erasing });
  };
  return openedLater(nameOf(path), open, (store, ...given) => store.search(...given));
};

/** Creates a store over a database that `openSqlite` opened. */
export const storeOver = (
  database: DatabaseSync,
  options: SettledOptions,
): WholeStore & Required<Pick<Store, "search">> => {
  const { threads, store } = partsOfThreads(database, options, ({ numberOf }) => numberOf);
  const { connection, commits, journals, index } = threads;
  return {
    ...store,
    append: appenderOf(connection, journals, commits),
    read: journals.read,
    list: sqliteListing(connection, journals),
    search: sqliteSearch(connection, index),
    ...sqliteRemoving(threads),
  };
};

type SettledOptions = Required<Pick<SqliteStoreOptions, "path" | "clock" | "erasing">>;

/** Creates the parts of a store, and all methods but those of journals. `numbers` finds a thread's number. */
export const partsOfThreads = (
  database: DatabaseSync,
  { path, clock, erasing }: SettledOptions,
  numbers: (journals: Journals) => (threadId: string) => number | undefined,
): { readonly threads: PartsOfThreads; readonly store: StoreBesideJournals } => {
  const reserve = reserveOf(path);
  const connection = connectionOver(database, path, clock, reserve);
  const commits = commitsOf(connection);
  const leases = sqliteLeases(connection, commits);
  const journals = sqliteJournals(connection);
  const snapshots = sqliteSnapshots(connection, leases, numbers(journals));
  const inbox = sqliteInbox(connection, leases);
  const parts = sqliteParts(connection, leases);
  const index = searchIndex(connection);
  const eraser = eraserOf(connection, index, erasing);
  eraser.settle();
  reserve.keep();
  const store: StoreBesideJournals = {
    acquire: leases.acquire,
    renew: leases.renew,
    abandoned: leases.abandoned,
    release: async (lease) => {
      await leases.release(lease);
      eraser.makeUp();
    },
    saveSnapshot: snapshots.saveSnapshot,
    readSnapshot: snapshots.readSnapshot,
    inbox,
    parts,
    close: async () => {
      if (!database.isOpen) return;
      commits.settle();
      if (connection.file.isInPlace()) eraser.settle();
      leases.close();
      database.close();
    },
  };
  return { threads: { connection, commits, leases, journals, snapshots, inbox, parts, index, eraser }, store };
};

type StoreBesideJournals = Omit<WholeStore, "append" | "read" | "rewrite" | "list" | "search" | "delete">;
