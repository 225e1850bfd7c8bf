import {
  checkTtl,
  disposable,
  type Inbox,
  kinds,
  type Lease,
  LeaseLostError,
  metadataIn,
  noSuchEntry,
  parseStored,
  type PartLog,
  refuseGaps,
  refuseUnknownEntries,
  SequenceConflictError,
  type SnapshotDraft,
  type StoredPartBatch,
  type StoredSnapshot,
  inboxAnswerOf,
  inboxItemOf,
} from "@colloquy/host/store";
import type { Clock, Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { connect, type Connection } from "./connection.ts";
import { membersOf, rowsOf } from "./entry-rows.ts";
import { list } from "./listing.ts";
import type { PostgresPool } from "./pool.ts";
import { tableNames } from "./schema.ts";
import { search } from "./searching.ts";
import { refuseUnstorable } from "../store-arguments.ts";
import { checkStoreOptions, serverStoreKinds } from "../store-options.ts";
import { fetchedSnapshot, fromStorable, serverLeaseTtlMs, toStorable } from "../servers.ts";

/** Either a `pool` of the package `pg`, which its creator ends, or a `connectionString`. */
export type PostgresStoreOptions = PostgresStoreSettings &
  (
    | { readonly pool: PostgresPool; readonly connectionString?: never }
    | {
        /** Such as `postgres://user:password@host:5432/database`. The store's own pool has at most 10 connections. */
        readonly connectionString: string;
        readonly pool?: never;
      }
  );

export interface PostgresStoreSettings {
  /** The schema that holds the tables. It is created if missing. Letters, digits and `_`. Default `colloquy`. */
  readonly schema?: string;
  /**
   * The clock that ends leases. Default: the server's, so that the clocks of the processes do not matter. If you set
   * it, set it in every process, and keep the clocks roughly equal.
   */
  readonly clock?: Pick<Clock, "now">;
  /** How long a call waits for the server, in milliseconds, before it fails as `unreachable`. Default 10,000. */
  readonly timeoutMs?: number;
}

/** A store in a PostgreSQL database. */
export interface PostgresStore extends Store {
  readonly search: NonNullable<Store["search"]>;
  readonly inbox: Inbox;
  readonly parts: PartLog;
  /**
   * Rewrites all tables, so that their files contain nothing that was deleted or redacted. The tables are locked
   * meanwhile, possibly for long. The store cannot clean the server's write-ahead log, replicas and backups.
   */
  readonly vacuum: () => Promise<void>;
}

/**
 * Creates a store of journals in a PostgreSQL database of version 13 or newer, encoded as UTF-8. Any number of
 * processes may use it at once. The first call creates or migrates the tables. It needs the package `pg`. The server's
 * `synchronous_commit` determines how durable an acknowledged append is.
 *
 * Thread ids contain neither NUL nor lone surrogates, and have at most 1,000 characters. Calls throw `StorageError`.
 * While the server is down its kind is `unreachable`, and calls succeed again when it is back. An append that failed
 * this way may have arrived. Acquire the lease again, which voids the append if it is still on its way, and read.
 */
export const postgresStore = (options: PostgresStoreOptions): PostgresStore & AsyncDisposable => {
  const known = {
    pool: kinds.anything,
    connectionString: kinds.anyText,
    schema: schemaKind,
    ...serverStoreKinds,
  } as const;
  checkStoreOptions<PostgresStoreOptions>("postgresStore", options, known, ["pool", "connectionString"]);
  const { pool, connectionString, schema = "colloquy", clock, timeoutMs = 10_000 } = options;
  return storeOver(connect({ pool, connectionString, schema, now: () => clock?.now() ?? null, timeoutMs }));
};

const schemaKind = kinds.word("letters, digits and _, at most 63", (schema) =>
  /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(String(schema)),
);

const storeOver = (connection: Connection): PostgresStore & AsyncDisposable => {
  const { query, schema, now } = connection;
  const read = readerOf(connection);
  const releaseLease = connection.prepared(`DELETE FROM ${schema}.leases WHERE thread = $1 AND token = $2`);
  return disposable({
    leaseTtlMs: serverLeaseTtlMs,
    acquire: acquirerOf(connection),
    renew: async ({ threadId, token }, ttlMs) => {
      checkTtl(ttlMs);
      const renewed = await query(
        `UPDATE ${schema}.leases SET expires_at = ${schema}.now_ms($3) + $4 WHERE thread = $1 AND token = $2 RETURNING 1`,
        [threadId, token, now(), ttlMs],
      );
      return renewed.length === 1;
    },
    release: async ({ threadId, token }) => {
      await releaseLease([threadId, token]);
    },
    abandoned: async () => {
      const rows = await query<{ readonly thread: string }>(
        `SELECT thread FROM ${schema}.leases WHERE expires_at <= ${schema}.now_ms($1)`,
        [now()],
      );
      return rows.map(({ thread }) => thread);
    },
    append: appenderOf(connection),
    read,
    rewrite: (lease, entries) => rewrite(connection, lease, entries),
    saveSnapshot: (lease, snapshot) => saveSnapshot(connection, lease, snapshot),
    readSnapshot: async (threadId) => {
      refuseUnstorable(connection.name, threadId);
      return readSnapshot(connection, threadId);
    },
    list: (options) => list(connection, (threadId) => read(threadId, 0), options),
    search: (words, options) => search(connection, words, options),
    inbox: postgresInbox(connection),
    parts: postgresParts(connection),
    delete: async (threadId, lease) => {
      refuseUnstorable(connection.name, threadId);
      const [row] = await query<{ readonly was: boolean | null }>(`SELECT ${schema}.drop_thread($1, $2, $3) AS was`, [
        threadId,
        lease?.token ?? null,
        now(),
      ]);
      if (lease !== undefined && typeof row?.was !== "boolean") throw new LeaseLostError(lease);
      return row?.was === true;
    },
    vacuum: () => connection.work(`VACUUM (FULL) ${tableNames.map((table) => `${schema}.${table}`).join(", ")}`),
    close: connection.close,
  });
};

const acquirerOf = ({ prepared, schema, name, now }: Connection): Store["acquire"] => {
  const send = prepared<{ readonly token: string | null }>(`SELECT ${schema}.acquire($1, $2, $3, $4) AS token`);
  return async (threadId, owner, ttlMs) => {
    checkTtl(ttlMs);
    refuseUnstorable(name, threadId);
    const [row] = await send([threadId, toStorable(owner), ttlMs, now()]);
    const token = row?.token ?? null;
    return token === null ? null : { threadId, owner, token: Number(token) };
  };
};

const readerOf = ({ prepared, schema, name }: Connection): Store["read"] => {
  const send = prepared<{ readonly seq: number; readonly body: string }>(
    `SELECT seq, body FROM ${schema}.entries
     WHERE thread = (SELECT number FROM ${schema}.threads WHERE thread = $1) AND seq >= $2 ORDER BY seq`,
  );
  return async (threadId, fromSeq = 0) => {
    refuseUnstorable(name, threadId);
    const rows = await send([threadId, Math.max(fromSeq, 0)]);
    return rows.map(({ seq, body }) => parseStored(name, body, `entry ${seq} of thread "${threadId}"`));
  };
};

const appenderOf = ({ prepared, schema, now }: Connection): Store["append"] => {
  const send = prepared<{ readonly held: boolean; readonly newest: number }>(
    `SELECT held, newest FROM ${schema}.append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
  );
  return async (lease, expectedSeq, entries) => {
    const { threadId, token } = lease;
    refuseGaps(threadId, expectedSeq, entries);
    const { bodies, times, words } = rowsOf(entries);
    const said = metadataIn(entries);
    const [row] = await send([
      threadId,
      token,
      now(),
      expectedSeq,
      bodies,
      times,
      words,
      times[0] ?? null,
      said === null ? null : JSON.stringify(said.metadata),
      membersOf(said?.metadata ?? {}),
      said?.seq ?? -1,
    ]);
    if (row?.held !== true) throw new LeaseLostError(lease);
    if (row.newest !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, row.newest);
  };
};

const rewrite = async (connection: Connection, lease: Lease, entries: readonly Entry[]): Promise<void> => {
  refuseUnknownEntries(lease.threadId, entries);
  const { bodies, times, words } = rowsOf(entries);
  const said = entries.map((entry) => metadataIn([entry])?.metadata);
  const { missing } = await underLease(connection, lease, "rewrite", [
    entries.map(({ seq }) => seq),
    bodies,
    times,
    words,
    said.map((metadata) => (metadata === undefined ? null : JSON.stringify(metadata))),
    said.map((metadata) => (metadata === undefined ? null : membersOf(metadata).join(" "))),
  ]);
  if (missing != null) throw noSuchEntry(lease.threadId, missing);
};

/** Calls a function of the schema for the holder of a lease. Throws `LeaseLostError`. */
const underLease = async (
  { query, schema, now }: Connection,
  lease: Lease,
  name: string,
  values: readonly unknown[],
): Promise<{ readonly missing?: number | null }> => {
  const given = [lease.threadId, lease.token, now(), ...values];
  const places = given.map((_, index) => `$${index + 1}`).join(", ");
  const [row] = await query<{ readonly held: boolean; readonly missing?: number | null }>(
    `SELECT * FROM ${schema}.${name}(${places}) AS held`,
    given,
  );
  if (row?.held !== true) throw new LeaseLostError(lease);
  return row;
};

/** Creates a part log with one row for each batch. */
const postgresParts = (connection: Connection): PartLog => ({
  append: async (lease, { number, turn, body, at, until }) => {
    await underLease(connection, lease, "add_parts", [number, turn, body, at, until]);
  },
  read: async (threadId, { at, after, turn }) => {
    const { query, schema, name } = connection;
    refuseUnstorable(name, threadId);
    const rows = await query<Omit<StoredPartBatch, "token"> & { readonly token: string }>(
      `SELECT token, number, turn, body FROM ${schema}.parts
       WHERE thread = $1 AND (token, number) > ($2, $3) AND until > $4 AND ($5::integer IS NULL OR turn = $5)
       ORDER BY token, number`,
      [threadId, after?.token ?? -1, after?.number ?? -1, at, turn ?? null],
    );
    // The driver returns a bigint as text.
    return rows.map((row) => ({ ...row, token: Number(row.token) }));
  },
});

/** Saves a snapshot as a whole or not at all. Throws `LeaseLostError`. */
const saveSnapshot = async (
  connection: Connection,
  lease: Lease,
  { seq, head, chunks, dropped }: SnapshotDraft,
): Promise<void> => {
  const [ids, bodies] = [[...chunks.keys()].map(toStorable), [...chunks.values()].map(toStorable)];
  const values = [seq, toStorable(head), ids, bodies, dropped.map(toStorable)];
  await underLease(connection, lease, "save_snapshot", values);
};

const readSnapshot = async (connection: Connection, threadId: string): Promise<StoredSnapshot | null> => {
  const { query, schema } = connection;
  const [found] = await query<{ readonly head: string }>(`SELECT head FROM ${schema}.snapshots WHERE thread = $1`, [
    threadId,
  ]);
  if (found === undefined) return null;
  return fetchedSnapshot(found.head, async (id, known) => {
    const [where, value] = id === null ? ["id <> ALL ($2)", known] : ["id = $2", id];
    const chunks = `SELECT id, body FROM ${schema}.chunks WHERE thread = $1 AND ${where}`;
    const rows = await query<{ readonly id: string; readonly body: string }>(chunks, [threadId, value]);
    return rows.map((chunk) => [chunk.id, chunk.body]);
  });
};

/** Creates an inbox in a table. An answer replaces its inbox item. */
const postgresInbox = (connection: Connection): Inbox => {
  const { query, prepared, schema } = connection;
  const unanswered = prepared<{ readonly id: string; readonly letter: string }>(
    `SELECT id, letter FROM ${schema}.letters WHERE thread = $1 AND answer IS NULL ORDER BY number`,
  );
  // Prepared, since each host sends it several times a second.
  const waiting = prepared<{ readonly thread: string }>(
    `SELECT DISTINCT thread FROM ${schema}.letters WHERE answer IS NULL`,
  );
  return {
    post: async (threadId, letter) => {
      refuseUnstorable(connection.name, threadId);
      await query(
        `INSERT INTO ${schema}.letters (thread, id, letter) VALUES ($1, $2, $3) ON CONFLICT (thread, id) DO NOTHING`,
        [threadId, toStorable(letter.id), JSON.stringify(letter)],
      );
    },
    unanswered: async (threadId) => {
      refuseUnstorable(connection.name, threadId);
      const rows = await unanswered([threadId]);
      return rows.map(({ id, letter }) => inboxItemOf(() => fromStorable(id), letter));
    },
    waiting: async () => (await waiting([])).map(({ thread }) => thread),
    answer: async (lease, answers) => {
      const ids = answers.map(({ id }) => toStorable(id));
      const texts = answers.map((answer) => JSON.stringify(answer));
      await underLease(connection, lease, "answer", [ids, texts]);
    },
    answerTo: async (threadId, letterId) => {
      refuseUnstorable(connection.name, threadId);
      const [row] = await query<{ readonly answer: string | null }>(
        `SELECT answer FROM ${schema}.letters WHERE thread = $1 AND id = $2`,
        [threadId, toStorable(letterId)],
      );
      const answer = row?.answer ?? null;
      return answer === null ? null : inboxAnswerOf(letterId, answer);
    },
    discard: async (threadId, letterId) => {
      refuseUnstorable(connection.name, threadId);
      await query(`DELETE FROM ${schema}.letters WHERE thread = $1 AND id = $2`, [threadId, toStorable(letterId)]);
    },
  };
};
