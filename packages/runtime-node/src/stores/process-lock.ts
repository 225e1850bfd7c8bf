import { basename, dirname } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { fs, sqlite } from "../ports/system.ts";

/**
 * Shows the other processes of this machine that a store is open: for as long as it is, it has a lock that the operating system
 * drops with the process, however that dies. A lease names the lock of its store, so that nobody waits for a dead holder.
 *
 * The lock is that of an empty SQLite file, whose name is never used again. Whoever finds one without its lock removes it.
 * A process that is stopped keeps its lock: then its leases end when their time is over, as they do if no lock can be had.
 */
export class ProcessLock {
  readonly #prefix: string | null;
  #held: HeldLock | null = null;

  /** @param prefix the beginning of the paths of all locks of the same store; null for a store that no other process can use. */
  constructor(prefix: string | null) {
    this.#prefix = prefix;
  }

  /** The name of this store's lock, which is made at the first call. Null if none can be had. */
  get name(): string | null {
    const prefix = this.#prefix;
    if (prefix === null) return null;
    if (this.#held !== null && identityOf(prefix + this.#held.name) === this.#held.identity) return this.#held.name;
    this.close();
    // Processes that died without a lease left theirs behind.
    for (const name of namesAfter(prefix)) this.isHeld(name);
    this.#held = lockAt(prefix);
    return this.#held?.name ?? null;
  }

  /** Whether the lock of this name is held, as far as can be known. */
  isHeld(name: string | null): boolean {
    if (this.#prefix === null || name === null || !wellFormed.test(name) || name === this.#held?.name) return true;
    const file = this.#prefix + name;
    try {
      const there = fs.lstatSync(file, { throwIfNoEntry: false });
      return there !== undefined && (!there.isFile() || !isRemovedUnheld(file));
    } catch {
      // The system does not tell: the lease counts until its time is over.
      return true;
    }
  }

  close(): void {
    if (this.#held === null) return;
    if (this.#prefix !== null) remove(this.#prefix + this.#held.name);
    this.#held.database.close();
    this.#held = null;
  }
}

interface HeldLock {
  readonly name: string;
  readonly database: DatabaseSync;
  /** The file's inode: nobody sees a lock on a deleted file. */
  readonly identity: string | undefined;
}

/** A name that comes from the store leads to no other file. */
const wellFormed = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const lockAt = (prefix: string): HeldLock | null => {
  const name = crypto.randomUUID();
  const file = prefix + name;
  try {
    fs.closeSync(fs.openSync(file, "wx", 0o600));
    const database = new (sqlite().DatabaseSync)(file);
    try {
      // No journal is written; whoever is just looking is done in no time.
      database.exec("PRAGMA busy_timeout = 1000; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
      const identity = identityOf(file);
      // Somebody may have found it before it was locked, and removed it.
      if (identity !== undefined) return { name, database, identity };
    } catch {
      remove(file);
    }
    database.close();
  } catch {
    // The folder may only be read, or the disk is full.
  }
  return null;
};

/** Removes a lock that nobody holds. It can't be taken meanwhile, for looking takes a shared one, so that two who look don't take each other for the holder. */
const isRemovedUnheld = (file: string): boolean => {
  const database = new (sqlite().DatabaseSync)(file, { readOnly: true });
  try {
    // By default Deno waits 5 s for a lock, and blocks the process.
    database.exec("PRAGMA busy_timeout = 0; BEGIN; SELECT 1 FROM sqlite_schema");
    remove(file);
    return true;
  } finally {
    database.close();
  }
};

const namesAfter = (prefix: string): readonly string[] => {
  try {
    const beginning = basename(prefix);
    return fs
      .readdirSync(dirname(prefix))
      .flatMap((name) => (name.startsWith(beginning) ? [name.slice(beginning.length)] : []));
  } catch {
    return [];
  }
};

const identityOf = (file: string): string | undefined => {
  const there = fs.lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return there === undefined ? undefined : `${there.dev}:${there.ino}`;
};

const remove = (file: string): void => {
  try {
    fs.rmSync(file);
  } catch {
    // A file that is left is empty, and harms nobody.
  }
};
