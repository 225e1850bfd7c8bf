import { StorageError } from "@colloquy/host/store";
import { type DBSchema, type IDBPDatabase, type IDBPTransaction, openDB, type StoreNames } from "idb";
import { databaseFailure } from "./failure.ts";

/** What lies where. Entries, heads, chunks, items and metadata are JSON texts: so what is read is what any other store gives. */
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
    /** By the end of their time: so those that are over are found without looking at the others. */
    indexes: { until: number };
  };
  /** Numbers that were given out: the newest of each kind. */
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
  /** Milliseconds since the epoch. */
  readonly until: number;
  /** Which tab has it, where tabs tell that they live. */
  readonly tab: string | null;
}

/** One of the two is there: the item, or what became of it. */
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

/** A connection to one database: made at the first call, and anew where the browser ended it. */
export class Database {
  /** As errors name it. */
  readonly label: string;
  readonly #name: string;
  #opened: Promise<IDBPDatabase<Tables>> | null = null;
  #closed = false;

  constructor(name: string) {
    this.#name = name;
    this.label = `the database ${JSON.stringify(name)} of IndexedDB`;
  }

  /** Reads in one transaction. `work` awaits nothing but the transaction's own requests. */
  async read<A>(tables: readonly Table[], work: (reading: Reading) => Promise<A>): Promise<A> {
    return this.#attempt(async (database) => {
      const reading = database.transaction([...tables], "readonly");
      const [result] = await Promise.all([work(reading), reading.done]);
      return result;
    });
  }

  /**
   * Writes in one transaction, all or nothing. `work` is as in `read`; where it throws, nothing is written. When it resolves it
   * is on the disk, or with `relaxed` with the system, which a power cut takes it from.
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
        // A request fails with its transaction, of which alone the browser says why.
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
        // A later version of this page wants the database, or it is to be deleted: this tab must not stand in the way.
        blocking: () => this.#forget(),
        terminated: () => this.#forget(),
      });
    } catch (error) {
      this.#opened = null;
      throw error;
    }
  }

  /** The next call opens it again. */
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

/** The keys that begin with a thread's id, as arrays: an array is greater than any text or number. */
export const ofThread = (threadId: string): IDBKeyRange => IDBKeyRange.bound([threadId], [threadId, []]);

/** It may have ended by itself. */
const abort = (writing: Writing): void => {
  try {
    writing.abort();
  } catch {}
};

const isAborted = (error: unknown): boolean => error instanceof Error && error.name === "AbortError";
