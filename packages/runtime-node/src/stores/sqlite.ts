import type { DatabaseSync } from "node:sqlite";

import {
  type Clock,
  type Lease,
  LeaseLostError,
  SequenceConflictError,
  type Store,
  type StoredThread,
} from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { systemClock } from "../clock.ts";
import { openSqlite } from "./sqlite-database.ts";
import { sqliteFailure } from "./sqlite-failure.ts";
import { seqsPerThread } from "./sqlite-schema.ts";
import { prepareStatements, type Statements } from "./sqlite-statements.ts";
import { StorageError } from "./storage-error.ts";

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
}

/**
 * Journals in one SQLite file, which several processes may use at once. Thread ids may hold anything but lone
 * surrogates; ids are listed in the order of their code points.
 *
 * Throws `StorageError` when the file can't be opened, is no store, or was written by a newer version.
 */
export const sqliteStore = (options: SqliteStoreOptions): Store => {
  const { path, clock = systemClock, busyTimeoutMs = 5000, synchronous = "FULL" } = options;
  if (!(busyTimeoutMs >= 0 && busyTimeoutMs <= 2 ** 31 - 1)) {
    throw new RangeError(`sqliteStore: busyTimeoutMs is ${busyTimeoutMs}; give milliseconds, from 0 to ${2 ** 31 - 1}`);
  }
  const database = openSqlite({ path, busyTimeoutMs: Math.ceil(busyTimeoutMs), synchronous });
  return storeOver({ database, statements: prepareStatements(database), path, clock });
};

interface Connection {
  readonly database: DatabaseSync;
  readonly statements: Statements;
  readonly path: string;
  readonly clock: Pick<Clock, "now">;
}

const storeOver = (connection: Connection): Store => {
  const { database, statements, path } = connection;
  return {
    acquire: async (threadId, owner, ttlMs) => acquire(connection, threadId, owner, ttlMs),
    renew: async (lease, ttlMs) =>
      attempt(connection, () => statements.renew(lease.threadId, lease.token, expiry(connection, ttlMs))),
    release: async (lease) => attempt(connection, () => statements.release(lease.threadId, lease.token)),
    append: (lease, expectedSeq, entries) => append(connection, lease, expectedSeq, entries),
    read: async (threadId, fromSeq = 0) => {
      refuseUnstorable(threadId, path);
      const rows = attempt(connection, () => statements.read(threadId, Math.max(fromSeq, 0)));
      return rows.map(({ seq, body }) => parse(body, threadId, seq, path));
    },
    list: async (page) => list(connection, page),
    delete: async (threadId) => {
      refuseUnstorable(threadId, path);
      const deleted = writing(connection, () => statements.deleteThread(threadId));
      if (deleted) attempt(connection, () => statements.checkpoint());
      return deleted;
    },
    close: async () => {
      if (database.isOpen) database.close();
    },
  };
};

const acquire = (connection: Connection, threadId: string, owner: string, ttlMs: number): Lease | null => {
  const { statements, clock, path } = connection;
  refuseUnstorable(threadId, path);
  return writing(connection, () => {
    const holder = statements.holder(threadId);
    if (holder !== undefined && holder.owner !== owner && holder.expiresAt > clock.now()) return null;
    const token = statements.nextToken();
    statements.grant(threadId, owner, token, expiry(connection, ttlMs));
    return { threadId, owner, token };
  });
};

const append = (connection: Connection, lease: Lease, expectedSeq: number, entries: readonly Entry[]): void => {
  const { statements, clock } = connection;
  const { threadId, token } = lease;
  refuseGaps(threadId, expectedSeq, entries);
  // Before the lock is taken: large entries take their time.
  const bodies = entries.map(bodyOf);
  const [first] = bodies;
  const alone = first !== undefined && bodies.length === 1 && expectedSeq >= 0;
  if (alone && attempt(connection, () => statements.insertNext(threadId, token, clock.now(), expectedSeq + 1, first)))
    return;
  writing(connection, () => {
    const { expiresAt, seq } = statements.standing(threadId, token);
    if (expiresAt === null || expiresAt <= clock.now()) throw new LeaseLostError(lease);
    const newest = seq ?? -1;
    if (newest !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, newest);
    if (bodies.length === 0) return;
    const thread = statements.numberOf(threadId);
    for (const [index, body] of bodies.entries()) statements.insert(thread, newest + 1 + index, body);
  });
};

const list = (connection: Connection, page: Parameters<Store["list"]>[0]): readonly StoredThread[] => {
  const { after, limit = Number.MAX_SAFE_INTEGER } = page ?? {};
  if (!(limit >= 0)) throw new RangeError(`list: limit is ${limit}; give the number of threads wanted, 0 or more`);
  if (after !== undefined) refuseUnstorable(after, connection.path);
  return attempt(connection, () => connection.statements.threadsAfter(after ?? null, Math.floor(limit)));
};

/** Runs one operation; what SQLite throws is told in the words of a store. */
const attempt = <A>({ database, path }: Connection, operation: () => A): A => {
  if (!database.isOpen) throw new StorageError("closed", `SQLite store "${path}": it was closed; open it again.`);
  try {
    return operation();
  } catch (error) {
    throw sqliteFailure(error, path);
  }
};

/** All that `operation` writes, or nothing. The lock comes first, so nothing that it reads is stale when it writes. */
const writing = <A>(connection: Connection, operation: () => A): A =>
  attempt(connection, () => {
    const { database, statements } = connection;
    statements.begin();
    try {
      const result = operation();
      statements.commit();
      return result;
    } catch (error) {
      // SQLite itself has rolled back already when the disk is full.
      if (database.isTransaction) statements.rollback();
      throw error;
    }
  });

const expiry = ({ clock }: Connection, ttlMs: number): number => {
  if (!(ttlMs >= 0)) throw new RangeError(`lease: ttlMs is ${ttlMs}; give milliseconds, 0 or more`);
  return clock.now() + ttlMs;
};

const refuseGaps = (threadId: string, expectedSeq: number, entries: readonly Entry[]): void => {
  if (expectedSeq + entries.length >= seqsPerThread) {
    throw new RangeError(
      `thread "${threadId}": it would have ${expectedSeq + 1 + entries.length} entries, and a SQLite store keeps ${seqsPerThread} a thread; begin a new thread.`,
    );
  }
  const index = entries.findIndex(({ seq }, position) => seq !== expectedSeq + 1 + position);
  const entry = entries[index];
  if (entry === undefined) return;
  throw new RangeError(
    `thread "${threadId}": an entry of seq ${entry.seq} was given where ${expectedSeq + 1 + index} follows; append entries in order of seq.`,
  );
};

/** SQLite keeps text as UTF-8, which has no lone surrogates: two ids would become one. */
const refuseUnstorable = (threadId: string, path: string): void => {
  if (threadId.isWellFormed()) return;
  throw new StorageError(
    "invalid-id",
    `SQLite store "${path}": the thread id ${JSON.stringify(threadId)} holds half of a surrogate pair, which it can't keep; choose another id.`,
  );
};

/** The seq stands in the row already; most entries hold nothing beside their event, which then stands for itself. */
const bodyOf = ({ seq: _, ...entry }: Entry): string =>
  JSON.stringify(Object.keys(entry).length === 1 ? entry.event : entry);

const parse = (body: string, threadId: string, seq: number, path: string): unknown => {
  try {
    const entry: unknown = JSON.parse(body);
    if (typeof entry !== "object" || entry === null) return entry;
    return "type" in entry ? { seq, event: entry } : { seq, ...entry };
  } catch (error) {
    throw new StorageError(
      "corrupt",
      `SQLite store "${path}": entry ${seq} of thread "${threadId}" is not JSON; restore the file from a backup, or delete the thread.`,
      { cause: error },
    );
  }
};
