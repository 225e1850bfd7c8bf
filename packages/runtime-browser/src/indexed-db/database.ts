import { StorageError, type StorageProblem } from "@colloquy/host/store";
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from "idb";

/**
 * The tables. Entries, heads, chunks, items and metadata are JSON texts, so that reads give the same values as any
 * other store.
 */
export interface Tables extends DBSchema {
  entries: { key: [threadId: string, seq: number]; value: string };
  threads: { key: string; value: ThreadRow };
  leases: { key: string; value: LeaseRow };
  heads: { key: string; value: string };
  chunks: { key: [threadId: string, id: string]; value: string };
  inbox: { key: [threadId: string, itemId: string]; value: InboxRow };
  parts: {
    key: [threadId: string, token: number, number: number];
    value: PartRow;
    /** By the end of their time, so that expired parts are found without reading the others. */
    indexes: { until: number };
  };
  /** The newest number of each kind. */
  counters: { key: string; value: number };
}

export interface ThreadRow {
  readonly threadId: string;
  readonly seq: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly metadata: string;
}

export interface LeaseRow {
  readonly owner: string;
  readonly token: number;
  /** In milliseconds since the epoch. */
  readonly until: number;
  /** The tab of the lease, if tabs have locks. */
  readonly tab: string | null;
}

/** Either the item or its result is present. */
export interface InboxRow {
  readonly order: number;
  readonly item: string | null;
  readonly answer: string | null;
}

export interface PartRow {
  readonly turn: number;
  readonly body: string;
  readonly until: number;
}

export type Table = StoreNames<Tables>;

export type Reading = IDBPTransaction<Tables, Table[]>;
export type Writing = IDBPTransaction<Tables, Table[], "readwrite">;

/** A connection to one database: opened at the first call, and again after the browser closed it. */
export class Database {
  /** The name for errors. */
  readonly label: string;
  readonly #name: string;
  #opened: Promise<IDBPDatabase<Tables>> | null = null;
  #closed = false;

  constructor(name: string) {
    this.#name = name;
    this.label = `the database ${JSON.stringify(name)} of IndexedDB`;
  }

  /** Reads in one transaction. `work` must await only requests of the transaction. */
  async read<A>(tables: readonly Table[], work: (reading: Reading) => Promise<A>): Promise<A> {
    return this.#attempt(async (database) => {
      const reading = database.transaction([...tables], "readonly");
      const [result] = await Promise.all([work(reading), reading.done]);
      return result;
    });
  }

  /**
   * Writes in one transaction, all or nothing. `work` is as in `read`; if it throws, nothing is written. When the
   * promise resolves, the data is on the disk. With `relaxed` the operating system has it, and a power cut loses it.
   */
  async write<A>(
    tables: readonly Table[],
    work: (writing: Writing) => Promise<A>,
    durability: "strict" | "relaxed" = "strict",
  ): Promise<A> {
    return this.#attempt(async (database) => {
      const writing = database.transaction([...tables], "readwrite", { durability });
      const done = writing.done.then(
        () => null,
        (error: unknown) => ({ error }),
      );
      const result = await work(writing).catch(async (error: unknown) => {
        abort(writing);
        const failed = await done;
        // A request fails with its transaction, and only the transaction has the reason.
        throw isAborted(error) ? (failed?.error ?? error) : error;
      });
      const failed = await done;
      if (failed !== null) throw failed.error;
      return result;
    });
  }

  close(): void {
    this.#closed = true;
    this.#forget();
  }

  async #attempt<A>(work: (database: IDBPDatabase<Tables>) => Promise<A>): Promise<A> {
    if (this.#closed) throw new StorageError("closed", `${this.label}: the store was closed; make another one.`);
    try {
      this.#opened ??= this.#open();
      return await work(await this.#opened);
    } catch (error) {
      throw databaseFailure(error, this.label);
    }
  }

  async #open(): Promise<IDBPDatabase<Tables>> {
    if (typeof indexedDB === "undefined")
      throw new StorageError("cannot-open", `${this.label}: there is no IndexedDB here; use another store.`);
    try {
      return await openDB<Tables>(this.#name, version, {
        upgrade: (database, _from, _to, transaction) => {
          for (const table of tableNames) database.createObjectStore(table);
          transaction.objectStore("parts").createIndex("until", "until");
        },
        // A later version of this page needs the database, or it is to be deleted, and this tab must not block that.
        blocking: () => this.#forget(),
        terminated: () => this.#forget(),
      });
    } catch (error) {
      this.#opened = null;
      throw error;
    }
  }

  /** Closes the connection; the next call opens it again. */
  #forget(): void {
    const opened = this.#opened;
    this.#opened = null;
    void opened?.then(
      (database) => database.close(),
      () => {},
    );
  }
}

const version = 1;

const tableNames = ["entries", "threads", "leases", "heads", "chunks", "inbox", "parts", "counters"] as const;

/** Returns the range of keys that begin with a thread's id, as arrays: an array is greater than any text or number. */
export const ofThread = (threadId: string): IDBKeyRange => IDBKeyRange.bound([threadId], [threadId, []]);

/** Aborts a transaction, which may have ended already. */
const abort = (writing: Writing): void => {
  try {
    writing.abort();
  } catch {}
};

const isAborted = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";

/** Converts an error of IndexedDB to one that names the store and the remedy. Returns other errors unchanged. */
const databaseFailure = (error: unknown, store: string): unknown => {
  const problem = problems[nameOf(error)];
  if (problem === undefined || !(error instanceof Error)) return error;
  const [kind, advice] = problem;
  // Chromium's error of a full disk has no message.
  const said = error.message === "" ? error.name : `${error.name}: ${error.message.replace(/\.$/, "")}`;
  return new StorageError(kind, `${store}: ${advice} (${said}).`, { cause: error });
};

/** Returns the name of an error; errors of this package have other names than those of IndexedDB. */
const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "");

const again = "the browser's database failed, or was cleared; try again, or else close all tabs of this site first";

/** By their names in the specification, https://w3c.github.io/IndexedDB/#exceptions */
const problems: { readonly [name: string]: readonly [StorageProblem, string] | undefined } = {
  QuotaExceededError: [
    "full",
    "the browser grants this site no more room; delete threads (the store's own `delete` needs no room for a lease)",
  ],
  VersionError: ["newer", "a later version of this page wrote the database; load the page again"],
  NotFoundError: ["not-a-store", "the database was made by something else; choose another name"],
  SecurityError: ["cannot-open", "the browser allows this page no database"],
  NotAllowedError: ["cannot-open", "the browser allows this page no database"],
  UnknownError: ["io", again],
  InvalidStateError: ["io", again],
  AbortError: ["io", again],
  DataError: ["failed", "the database takes no such key"],
  ConstraintError: ["failed", again],
  TransactionInactiveError: ["failed", again],
};
