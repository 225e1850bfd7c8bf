import pg from "pg";

import { answerInTime, untilDone } from "../answer-in-time.ts";
import { StorageError } from "../storage-error.ts";
import { postgresFailure } from "./failure.ts";
import { migrate } from "./migrate.ts";
import type { PostgresPool } from "./pool.ts";
import { quoted } from "./schema.ts";

/** Where a store is, and how to talk to it. */
export interface Connection {
  /** Quoted. */
  readonly schema: string;
  /** The store in words, for messages. */
  readonly name: string;
  /** Sends one statement, when the schema is there. The rows are as their statement says. Throws `StorageError`. */
  readonly query: <Row>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;
  /** Sends a statement that may take as long as it takes. */
  readonly work: (text: string) => Promise<void>;
  /** The time that leases are judged by; null: the server's. */
  readonly now: () => number | null;
  readonly close: () => Promise<void>;
}

export interface ConnectionOptions {
  readonly pool: PostgresPool | undefined;
  readonly connectionString: string | undefined;
  readonly schema: string;
  readonly now: () => number | null;
  readonly timeoutMs: number;
}

/** Nothing is sent before the first query, which brings the schema up to date. Throws `StorageError` for what can't be an address. */
export const connect = (options: ConnectionOptions): Connection => {
  const { pool: given, connectionString, schema, now, timeoutMs } = options;
  const pool = given ?? ownPool(connectionString, timeoutMs);
  const address = given === undefined ? checkedAddressOf(connectionString ?? "") : addressOfTheirs(given);
  const name = `PostgreSQL store "${schema}"${address}`;
  // A server that goes away breaks the connections that wait in the pool, which makes new ones when they are needed.
  // The pool emits it as an error event, which would end the process where nothing listens.
  if (pool.listenerCount("error") === 0) pool.on("error", ignore);
  const attempt = async <A>(operation: () => Promise<A>, limitMs = timeoutMs): Promise<A> => {
    if (closed) throw new StorageError("closed", `${name}: it was closed; open it again.`);
    try {
      return await answerInTime(limitMs, operation(), name);
    } catch (error) {
      throw postgresFailure(error, name);
    }
  };
  let closed = false;
  const ready = untilDone(() => attempt(() => migrate(pool, schema, name, timeoutMs)));
  return {
    schema: quoted(schema),
    name,
    now,
    query: async <Row>(text: string, values: readonly unknown[]) => {
      await ready();
      const { rows } = await attempt(() => pool.query({ text, values: [...values], query_timeout: timeoutMs }));
      // The driver types a row as anything; each caller names the columns of its own statement.
      return rows as readonly Row[];
    },
    work: async (text) => {
      await ready();
      await attempt(() => pool.query({ text, query_timeout: foreverMs }), Infinity);
    },
    close: async () => {
      if (closed) return;
      closed = true;
      if (given === undefined) await answerInTime(timeoutMs, pool.end(), name).catch(ignore);
    },
  };
};

const ownPool = (connectionString: string | undefined, timeoutMs: number): PostgresPool =>
  new pg.Pool({
    ...(connectionString !== undefined && { connectionString }),
    connectionTimeoutMillis: timeoutMs,
    // A connection that hangs is given up, and another takes its place.
    query_timeout: timeoutMs,
    keepAlive: true,
    application_name: "colloquy",
    // An open store is no reason for a process to stay.
    allowExitOnIdle: true,
  });

/** Where a pool leads, without user and password. */
const addressOf = (options: object): string => {
  const { host, port, database } = new pg.Client(options);
  return ` at ${host}:${port}/${database ?? ""}`;
};

const addressOfTheirs = (pool: PostgresPool): string => {
  try {
    return addressOf(pool.options ?? {});
  } catch {
    return "";
  }
};

/** The error of a bad address may show it, with its password: it is not passed on. */
const checkedAddressOf = (connectionString: string): string => {
  try {
    if (wellFormed.test(connectionString)) return addressOf({ connectionString });
  } catch {}
  throw new StorageError(
    "cannot-open",
    "postgresStore: connectionString is no address of a database, or names a file of a certificate that can't be read; " +
      'give one like "postgres://user:password@host:5432/database", with special characters percent-encoded.',
  );
};

/** With a "@" or a "/" too many, a part of the password is taken for a host or a database, and would be shown as that. */
const wellFormed = /^postgres(ql)?:\/\/([^@/?#]*@)?[^@/?#]*([/?#][^@]*)?$/;

/** The longest that a timer takes: 24 days. */
const foreverMs = 2 ** 31 - 1;

const ignore = (): void => {};
