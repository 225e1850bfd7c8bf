import type { DatabaseSync } from "node:sqlite";
import { join, resolve } from "node:path";

import type { Clock, Store, StoredThread } from "@colloquy/host";
import { kinds, type Lease, pageOfThreads, refuseGaps, StorageError } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

import { systemClock } from "../../ports/system.ts";
import { notRewritten } from "../reserve.ts";
import { attempt, refuseUnstorable, writing } from "../sqlite/connection.ts";
import { openSqlite } from "../sqlite/database.ts";
import type { Erasing } from "../sqlite/erasing.ts";
import { openedLater, type WholeStore } from "../sqlite/opened-later.ts";
import type { PartsOfThreads } from "../sqlite/removing.ts";
import { partsOfThreads } from "../sqlite/sqlite-store.ts";
import { checkStoreOptions, fileStoreKinds } from "../store-options.ts";
import { attemptFiles, flushFolder, makeStoreFolder, removeFile, replaceFile } from "./disk.ts";
import { idEnding, isShortened, journalEnding, nameOf } from "./file-name.ts";
import {
  type Addition,
  type Appended,
  appendToJournal,
  beginJournal,
  hasEntries,
  type JournalEnd,
  readJournal,
  refuseOtherEnd,
  rewrittenJournal,
} from "./journal-file.ts";
import { linesOf } from "./journal-lines.ts";
import { journalListing } from "./listing.ts";

export interface FilesStoreOptions {
  /** A folder for conversations alone, on a disk of this machine. It is created if its parent exists. */
  readonly folder: string;
  /** The clock that ends leases. Default `systemClock`; processes that share a folder need roughly equal clocks. */
  readonly clock?: Pick<Clock, "now">;
  /**
   * How long to wait for another process that holds the folder's lock, in milliseconds. The whole process waits.
   * Default 5,000. After that a call fails with a `StorageError` of kind `locked`.
   */
  readonly busyTimeoutMs?: number;
  /**
   * How durable an acknowledged append, inbox item, answer or snapshot is. `FULL`: it survives a crash of the process
   * or the operating system, and a power cut (one flush to the disk for each append). `NORMAL`: it survives a crash of
   * the process; a power cut may lose the newest ones. Default `FULL`, since a once-only tool relies on it.
   */
  readonly synchronous?: "NORMAL" | "FULL";
  /**
   * When deleted or rewritten text disappears from the bytes of `threads.db`. Default `at-once`. From the bytes of the
   * journals it always disappears at once.
   */
  readonly erasing?: Erasing;
}

/**
 * Creates a store of journals in readable files: one file for each thread, one line for each entry. All else is in a
 * SQLite file beside them. Several processes of one machine may use a folder at once. Thread ids may contain anything
 * but lone surrogates. It cannot search.
 *
 * The first call creates the folder if necessary. If the folder is unusable, or a newer version wrote it, that call
 * rejects with a `StorageError`, and the next call tries again.
 *
 * @throws ConfigurationError for invalid options.
 */
export const filesStore = (options: FilesStoreOptions): Store & AsyncDisposable => {
  checkStoreOptions("filesStore", options, { folder: kinds.anyText, ...fileStoreKinds }, ["folder"]);
  const { clock = systemClock, busyTimeoutMs = 5000, synchronous = "FULL", erasing = "at-once" } = options;
  const folder = resolved(options.folder);
  const flush = synchronous === "FULL";
  return openedLater(`files store "${folder}"`, () =>
    attemptFiles(folder, () => {
      refuseNoFolder(folder);
      makeStoreFolder(folder, flush);
      const path = join(folder, "threads.db");
      const database = openSqlite({ path, busyTimeoutMs: Math.ceil(busyTimeoutMs), synchronous });
      return storeOver(database, { folder, path, clock, erasing, flush });
    }),
  );
};

interface Settings extends Pick<Required<FilesStoreOptions>, "folder" | "clock" | "erasing"> {
  readonly path: string;
  readonly flush: boolean;
}

/** Resolves a path by the present working directory, which may change later. */
const resolved = (folder: string | undefined = ""): string => (folder === "" ? "" : resolve(folder));

const refuseNoFolder = (folder: string): void => {
  if (folder !== "" && !folder.includes("\0")) return;
  const problem = folder === "" ? "the path is empty" : "the path holds a NUL";
  throw new StorageError("cannot-open", `files store ${JSON.stringify(folder)}: ${problem}; name a folder.`);
};

const storeOver = (database: DatabaseSync, settings: Settings): WholeStore => {
  // A journal that was copied into the folder has no row yet.
  const { threads, store } = partsOfThreads(database, settings, ({ add }) => add);
  const files = new JournalFiles(threads, settings);
  return {
    ...store,
    append: (...given) => files.append(...given),
    read: async (...given) => files.read(...given),
    rewrite: async (...given) => files.rewrite(...given),
    list: async (options) => pageOfThreads(() => files.list(), options),
    delete: async (...given) => files.delete(...given),
  };
};

/** The journals. Each operation is synchronous, so that no other call comes between the check of a lease and the write. */
class JournalFiles {
  readonly #threads: PartsOfThreads;
  readonly #settings: Settings;
  readonly #listing: () => readonly StoredThread[];
  /** The ends of the journals that this process wrote, each with the token of the lease it wrote under. */
  readonly #ends = new Map<string, JournalEnd & { readonly token: number }>();

  constructor(threads: PartsOfThreads, settings: Settings) {
    this.#threads = threads;
    this.#settings = settings;
    this.#listing = journalListing(settings.folder);
  }

  append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void {
    const { threadId } = lease;
    refuseGaps(threadId, expectedSeq, entries);
    // Before the lock is taken, since large entries take a while.
    const addition = { threadId, expectedSeq, count: entries.length, lines: linesOf(entries) };
    if (entries.length === 0) this.#underLease(lease, (path) => refuseOtherEnd(path, threadId, expectedSeq));
    else if (expectedSeq === -1) this.#begin(lease, addition);
    else this.#append(lease, addition);
  }

  /** Reads without the lock. If it finds damage, it reads again under the lock, as a write may look like damage. */
  read(threadId: string, fromSeq: number = 0): readonly unknown[] {
    const { connection } = this.#threads;
    const path = this.#path(threadId);
    return this.#attempt(() => {
      try {
        return readJournal(path, fromSeq);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        return writing(connection, () => readJournal(path, fromSeq));
      }
    });
  }

  /** A crash in between leaves no copy of the replaced text: what was derived from it goes first. */
  rewrite(lease: Lease, entries: readonly Entry[]): void {
    const { threadId } = lease;
    if (entries.length === 0) return this.#underLease(lease, () => {});
    const { connection, eraser } = this.#threads;
    try {
      connection.reserve.makingRoom(() => {
        const bytes = this.#underLease(lease, (path) => {
          const rewritten = rewrittenJournal(path, threadId, entries);
          this.#forgetDerived(threadId);
          // The log of the database may still have inbox items that were answered or discarded.
          eraser.owe();
          return rewritten;
        });
        // Always flushed, since the old file is gone afterwards.
        this.#underLease(lease, (path) => replaceFile(path, bytes, true));
      });
    } catch (error) {
      throw notRewritten(error, threadId, () => "as much as its journal has, for it is written again");
    }
    eraser.erase(`${entries.length} entries of thread "${threadId}" are rewritten`);
  }

  list(): readonly StoredThread[] {
    return this.#attempt(this.#listing);
  }

  /** Removes the journal last, so that no new thread of this id finds what belonged to it. */
  delete(threadId: string, lease?: Lease): boolean {
    const { connection, leases, inbox, eraser } = this.#threads;
    const path = this.#path(threadId);
    let existed = false;
    connection.reserve.makingRoom(() => {
      this.#exclusively(() => {
        if (lease !== undefined) leases.check(lease);
        this.#forgetDerived(threadId);
        // As above.
        if (inbox.forget(threadId) || hasEntries(path)) eraser.owe();
      });
      this.#exclusively(() => {
        // This process may have stood still in between, and another one have taken the thread.
        if (lease !== undefined) leases.check(lease);
        this.#ends.delete(threadId);
        leases.forget(threadId);
        existed = hasEntries(path) || existed;
        removeFile(path, this.#settings.flush);
        // Without its id file a journal might not be listed.
        if (isShortened(nameOf(threadId))) removeFile(this.#idPath(threadId), this.#settings.flush);
      });
    });
    eraser.erase(`thread "${threadId}" is deleted`);
    return existed;
  }

  #begin(lease: Lease, addition: Addition): void {
    const { threadId, token } = lease;
    const { flush } = this.#settings;
    const end = this.#underLease(lease, (path) => {
      refuseOtherEnd(path, threadId, -1);
      if (isShortened(nameOf(threadId))) replaceFile(this.#idPath(threadId), threadId, flush);
      return beginJournal(path, addition, flush);
    });
    this.#ends.set(threadId, { ...end, token });
  }

  #append(lease: Lease, addition: Addition): void {
    const { folder, flush } = this.#settings;
    const { threadId, token } = lease;
    const last = this.#ends.get(threadId);
    const known = last?.token === token ? last : undefined;
    const appended = this.#underLease(lease, (path) => appendToJournal(path, addition, known, flush));
    try {
      // Without the lock: a process that takes over meanwhile finds the written bytes, and flushes them with its own.
      if (flush) attemptFiles(folder, () => appended.flush());
      // Another process may have created the file, and not have flushed the folder.
      if (flush && known === undefined) attemptFiles(folder, () => flushFolder(folder));
    } catch (error) {
      this.#takeBack(appended);
      throw error;
    } finally {
      appended.close();
    }
    this.#ends.set(threadId, { ...appended.end, token });
  }

  /** Removes an append that could not be flushed, and so was not acknowledged, unless the disk fails here too. */
  #takeBack(appended: Appended): void {
    try {
      this.#exclusively(() => appended.undo());
    } catch {}
  }

  /** Within a transaction: forgets the snapshot of a thread and its shown parts, which are erased later. */
  #forgetDerived(threadId: string): void {
    const { journals, parts, eraser } = this.#threads;
    if (parts.forget(threadId)) eraser.owe();
    const thread = journals.numberOf(threadId);
    if (thread !== undefined) eraser.leave(thread);
  }

  /** Runs `operation` under the lock if the lease is in force. */
  #underLease<A>(lease: Lease, operation: (path: string) => A): A {
    const path = this.#path(lease.threadId);
    return this.#exclusively(() => {
      this.#threads.leases.check(lease);
      return operation(path);
    });
  }

  #exclusively<A>(operation: () => A): A {
    return attemptFiles(this.#settings.folder, () => writing(this.#threads.connection, operation));
  }

  #attempt<A>(operation: () => A): A {
    return attemptFiles(this.#settings.folder, () => attempt(this.#threads.connection, operation));
  }

  #path(threadId: string): string {
    refuseUnstorable(this.#threads.connection, threadId);
    return join(this.#settings.folder, nameOf(threadId) + journalEnding);
  }

  #idPath(threadId: string): string {
    return join(this.#settings.folder, nameOf(threadId) + idEnding);
  }
}
