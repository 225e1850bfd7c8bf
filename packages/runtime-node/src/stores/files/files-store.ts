import {
  checkTtl,
  disposable,
  type Inbox,
  type Lease,
  LeaseLostError,
  pageOfThreads,
  type PartLog,
  refuseGaps,
  type SnapshotDraft,
  StorageError,
  type StoredSnapshot,
} from "@colloquy/host/store";
import type { Clock, ListOptions, Store, StoredThread, ThreadPage } from "@colloquy/host";
import { join, resolve } from "node:path";
import type { Entry } from "@colloquy/machine";

import { systemClock } from "../../ports/clock.ts";
import { notRewritten, type Reserve, reserveAt } from "../reserve.ts";
import { checkBusyTimeout, checkStoreOptions, checkWord } from "../store-options.ts";
import { flushFolder, lookAt, makeStoreFolder } from "./disk.ts";
import { inWords } from "./failure.ts";
import { answerLetters, answerToLetter, discardLetter, postLetter, unansweredLetters } from "./inbox-folder.ts";
import { journalFacts } from "./journal-facts.ts";
import { appendToJournal, type Appended, type JournalEnd, readJournal, refuseOtherEnd } from "./journal-file.ts";
import { linesOf } from "./journal-lines.ts";
import { type HeldLeases, type Leases, leasesLater, openLeases } from "./leases.ts";
import { appendParts, partsIn } from "./parts-folder.ts";
import { snapshotIn, writeSnapshot } from "./snapshot-folder.ts";
import { deleteThread, pathsOf, prepareThread, replaceEntries, type ThreadPaths } from "./thread-files.ts";

export interface FilesStoreOptions {
  /** A folder for conversations alone, on a disk of this machine. It is created if its parent exists. */
  readonly folder: string;
  /**
   * The clock that ends leases. Default `systemClock`. Processes that share a folder need clocks that roughly agree.
   */
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
}

/**
 * Creates a store of journals in readable files: one file for each thread, one line for each entry. Several processes
 * of one machine may use a folder at once. Thread ids may contain anything but lone surrogates. It cannot search.
 *
 * The first call creates the folder if necessary. If the folder is unusable, or a newer version wrote it, that call
 * rejects with a `StorageError`, and the next call tries again.
 *
 * @throws ConfigurationError for invalid options.
 */
export const filesStore = (options: FilesStoreOptions): Store & AsyncDisposable => {
  const names = { folder: true, clock: true, busyTimeoutMs: true, synchronous: true } as const;
  checkStoreOptions("filesStore", options, names, ["folder"]);
  const { folder, clock = systemClock, busyTimeoutMs = 5000, synchronous = "FULL" } = options;
  checkBusyTimeout("filesStore", busyTimeoutMs);
  checkWord("filesStore: synchronous", synchronous, ["NORMAL", "FULL"]);
  return disposable(
    new StoreOfFiles({
      folder: resolved(folder),
      clock,
      flush: synchronous === "FULL",
      busyTimeoutMs: Math.ceil(busyTimeoutMs),
    }),
  );
};

interface Setting {
  readonly folder: string;
  readonly clock: Pick<Clock, "now">;
  readonly flush: boolean;
  readonly busyTimeoutMs: number;
}

/**
 * A files store. Each operation is synchronous, so that no other call comes between the check of a lease and the write.
 */
class StoreOfFiles implements Store {
  readonly inbox: Inbox;
  readonly parts: PartLog;
  readonly #setting: Setting;
  readonly #leases: Leases;
  readonly #reserve: Reserve;
  readonly #facts: (isSure: boolean) => readonly StoredThread[];
  /** The ends of the journals that this process wrote, each with the token of the lease it wrote under. */
  readonly #ends = new Map<string, JournalEnd & { readonly token: number }>();

  constructor(setting: Setting) {
    const { folder, busyTimeoutMs } = setting;
    this.#setting = setting;
    this.#reserve = reserveAt(join(folder, "leases.db-reserve"), reserveBytes);
    this.#leases = leasesLater(folder, () =>
      this.#reserve.makingRoom(() =>
        inWords(folder, () => {
          refuseNoFolder(folder);
          makeStoreFolder(folder, setting.flush);
          const leases = openLeases(folder, busyTimeoutMs);
          this.#reserve.keep();
          return leases;
        }),
      ),
    );
    this.#facts = journalFacts(folder);
    this.inbox = this.#inbox();
    this.parts = {
      append: async (lease, batch) => this.#underLease(lease, ({ parts }) => appendParts(parts, lease, batch)),
      read: async (threadId, range) => this.#reading(() => partsIn(this.#paths(threadId).parts, range)),
    };
  }

  async acquire(threadId: string, owner: string, ttlMs: number): Promise<Lease | null> {
    const { clock } = this.#setting;
    this.#paths(threadId);
    return this.#exclusivelyAnyway((held) => {
      const holder = held.holder(threadId);
      if (holder !== undefined && holder.owner !== owner && holder.until > clock.now()) return null;
      return { threadId, owner, token: held.grant(threadId, owner, this.#endOf(ttlMs)) };
    });
  }

  async renew(lease: Lease, ttlMs: number): Promise<boolean> {
    return this.#exclusively((held) => held.renew(lease.threadId, lease.token, this.#endOf(ttlMs)));
  }

  async release(lease: Lease): Promise<void> {
    if (this.#ends.get(lease.threadId)?.token === lease.token) this.#ends.delete(lease.threadId);
    this.#exclusivelyAnyway((held) => held.release(lease.threadId, lease.token));
  }

  append(lease: Lease, expectedSeq: number, entries: readonly Entry[]): void {
    refuseGaps(lease.threadId, expectedSeq, entries);
    // Before the lock is taken, since large entries take a while.
    const lines = linesOf(entries);
    if (entries.length > 0) this.#write(lease, expectedSeq, lines, expectedSeq + entries.length);
    else this.#underLease(lease, (paths) => refuseOtherEnd(paths.journal, lease.threadId, expectedSeq));
  }

  async read(threadId: string, fromSeq: number = 0): Promise<readonly unknown[]> {
    const { journal } = this.#paths(threadId);
    return this.#reading(() => readJournal(journal, fromSeq) ?? []);
  }

  async rewrite(lease: Lease, entries: readonly Entry[]): Promise<void> {
    const { journal } = this.#paths(lease.threadId);
    try {
      this.#reserve.makingRoom(() =>
        this.#underLease(lease, (paths) => replaceEntries(paths, lease.threadId, entries, this.#setting.flush)),
      );
    } catch (error) {
      const needs = () => `${lookAt(journal)?.size ?? 0} bytes, for its journal is written anew`;
      throw notRewritten(error, lease.threadId, needs);
    }
    this.#flushFolder();
  }

  async saveSnapshot(lease: Lease, snapshot: SnapshotDraft): Promise<void> {
    this.#underLease(lease, (paths) => writeSnapshot(paths.snapshot, snapshot, this.#setting.flush));
    this.#flushFolder();
  }

  async readSnapshot(threadId: string): Promise<StoredSnapshot | null> {
    const { snapshot } = this.#paths(threadId);
    return this.#reading(() => snapshotIn(snapshot, (read) => this.#inWords(read)));
  }

  async list(options?: ListOptions): Promise<ThreadPage> {
    return pageOfThreads(() => this.#reading(this.#facts), options);
  }

  async delete(threadId: string, lease?: Lease): Promise<boolean> {
    const paths = this.#paths(threadId);
    let existed = false;
    this.#exclusivelyAnyway((held) => {
      if (lease !== undefined) this.#check(held, lease);
      this.#ends.delete(threadId);
      // Delete the files first: ending the lease needs room on the disk.
      existed = deleteThread(paths, this.#setting.flush) || existed;
      held.forget(threadId);
    });
    this.#flushFolder();
    return existed;
  }

  async close(): Promise<void> {
    this.#leases.close();
  }

  #inbox(): Inbox {
    const { flush } = this.#setting;
    return {
      post: async (threadId, letter) => {
        const { inbox } = this.#paths(threadId);
        this.#exclusively(() => postLetter(inbox, letter, flush));
        this.#flushFolder();
      },
      unanswered: async (threadId) => {
        const { inbox } = this.#paths(threadId);
        return this.#reading(() => unansweredLetters(inbox));
      },
      answer: async (lease, answers) => this.#underLease(lease, ({ inbox }) => answerLetters(inbox, answers, flush)),
      answerTo: async (threadId, letterId) => {
        const { inbox } = this.#paths(threadId);
        return this.#reading(() => answerToLetter(inbox, letterId));
      },
      discard: async (threadId, letterId) => {
        const { inbox } = this.#paths(threadId);
        this.#exclusively(() => discardLetter(inbox, letterId, flush));
        this.#flushFolder();
      },
    };
  }

  #write(lease: Lease, expectedSeq: number, lines: Buffer, newestSeq: number): void {
    const { folder, flush } = this.#setting;
    const { threadId, token } = lease;
    const known = this.#ends.get(threadId);
    this.#ends.delete(threadId);
    const appended = this.#underLease(lease, (paths) => {
      const begin = (): void => prepareThread(paths, threadId, flush);
      const addition = { threadId, expectedSeq, lines, newestSeq, begin };
      return appendToJournal(paths.journal, addition, known?.token === token ? known : undefined, flush);
    });
    try {
      // Without the lock: a process that takes over meanwhile finds the written bytes, and flushes them with its own.
      if (flush) this.#inWords(() => appended.flush());
      if (flush && appended.isNew) this.#inWords(() => flushFolder(folder));
    } catch (error) {
      this.#takeBack(appended);
      throw error;
    } finally {
      appended.close();
    }
    this.#ends.set(threadId, { ...appended.end, token });
  }

  /**
   * Removes an append that could not be flushed and so was not acknowledged. If the disk fails here too, it may remain.
   */
  #takeBack(appended: Appended): void {
    try {
      this.#exclusively(() => appended.undo());
    } catch {}
  }

  /** Runs `operation` under the lock if the lease is in force. */
  #underLease<A>(lease: Lease, operation: (paths: ThreadPaths) => A): A {
    const paths = this.#paths(lease.threadId);
    return this.#exclusively((held) => {
      this.#check(held, lease);
      return operation(paths);
    });
  }

  /** @throws LeaseLostError */
  #check(held: HeldLeases, lease: Lease): void {
    const until = held.until(lease.threadId, lease.token);
    if (until === undefined || until <= this.#setting.clock.now()) throw new LeaseLostError(lease);
  }

  #exclusively<A>(operation: (held: HeldLeases) => A): A {
    return this.#inWords(() => this.#leases.exclusively(operation));
  }

  /** Runs an operation that must succeed on a full disk too; it may use the reserved room. */
  #exclusivelyAnyway<A>(operation: (held: HeldLeases) => A): A {
    return this.#reserve.makingRoom(() => this.#exclusively(operation));
  }

  /**
   * Reads without the lock. If it finds damage, it reads again under the lock, since a concurrent write may look like
   * damage.
   */
  #reading<A>(read: (isSure: boolean) => A): A {
    return this.#inWords(() => {
      this.#leases.check();
      try {
        return read(false);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        return this.#leases.exclusively(() => read(true));
      }
    });
  }

  #inWords<A>(operation: () => A): A {
    return inWords(this.#setting.folder, operation);
  }

  #paths(threadId: string): ThreadPaths {
    return pathsOf(this.#setting.folder, threadId);
  }

  #flushFolder(): void {
    const { folder, flush } = this.#setting;
    if (flush) this.#inWords(() => flushFolder(folder));
  }

  #endOf(ttlMs: number): number {
    checkTtl(ttlMs);
    return this.#setting.clock.now() + ttlMs;
  }
}

/** More room than ending a lease needs, and than new files beside `leases.db` take. */
const reserveBytes = 2 ** 18;

/** Resolves a path by the present working directory, which may change later. */
const resolved = (folder: string | undefined = ""): string => (folder === "" ? "" : resolve(folder));

const refuseNoFolder = (folder: string): void => {
  if (folder !== "" && !folder.includes("\0")) return;
  const problem = folder === "" ? "the path is empty" : "the path holds a NUL";
  throw new StorageError("cannot-open", `files store ${JSON.stringify(folder)}: ${problem}; name a folder.`);
};
