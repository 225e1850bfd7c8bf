import { createHash } from "node:crypto";

import pg from "pg";

import { answerInTime, untilDone } from "../answer-in-time.ts";
import { StorageError } from "@colloquy/host/store";
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
  /** The same for a statement that is sent again and again: each connection of the pool has it parsed once. */
  readonly prepared: <Row>(text: string) => (values: readonly unknown[]) => Promise<readonly Row[]>;
  /** Sends a statement that may take as long as it takes. */
  readonly work: (text: string) => Promise<void>;
  /** The time that leases are judged by; null: the server's. */
  readonly now: () => number | null;
  readonly close: () => Promise<void>;
}

interface Statement {
  /** By which the connection knows it again. */
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
}

export interface ConnectionOptions {
  readonly pool: PostgresPool | undefined;
  readonly connectionString: string | undefined;
  readonly schema: string;
  readonly now: () => number | null;
  readonly timeoutMs: number;
}

/** Nothing is sent before the first query, which brings the schema up to date. Every query is refused if the address is none. */
export const connect = (options: ConnectionOptions): Connection => {
  const { pool: given, connectionString, schema, now, timeoutMs } = options;
  const pool = given ?? ownPool(connectionString, timeoutMs);
  const address = given === undefined ? ownAddressOf(connectionString) : addressOfTheirs(given);
  const name = `PostgreSQL store "${schema}"${address ?? ""}`;
  // A server that goes away breaks the connections that wait in the pool, which makes new ones when they are needed.
  // The pool emits it as an error event, which would end the process where nothing listens.
  if (pool.listenerCount("error") === 0) pool.on("error", ignore);
  const attempt = async <A>(operation: () => Promise<A>, limitMs = timeoutMs): Promise<A> => {
    if (closed) throw new StorageError("closed", `${name}: it was closed; open it again.`);
    if (address === null) throw new StorageError("cannot-open", noAddress);
    try {
      return await answerInTime(limitMs, operation(), name);
    } catch (error) {
      throw postgresFailure(error, name);
    }
  };
  let closed = false;
  const ready = untilDone(() => attempt(() => migrate(pool, schema, name, timeoutMs)));
  const send = async <Row>(statement: Statement): Promise<readonly Row[]> => {
    await ready();
    const { rows } = await attempt(() => pool.query({ ...statement, query_timeout: timeoutMs }));
    // The driver types a row as anything; each caller names the columns of its own statement.
    return rows as readonly Row[];
  };
  let prepares = true;
  return {
    schema: quoted(schema),
    name,
    now,
    query: (text, values) => send({ text, values: [...values] }),
    prepared: <Row>(text: string) => {
      const statement = statementName(text);
      return async (values: readonly unknown[]) => {
        const unprepared = { text, values: [...values] };
        if (!prepares) return send<Row>(unprepared);
        try {
          return await send<Row>({ ...unprepared, name: statement });
        } catch (error) {
          if (!isForgotten(error)) throw error;
          prepares = false;
          return send<Row>(unprepared);
        }
      };
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

/** Of the text alone: a pooler may give a connection to another store, which then has what its text says. */
const statementName = (text: string): string => `colloquy_${createHash("sha256").update(text).digest("base64url")}`;

/**
 * Whether the connection does not have a prepared statement as this process thinks: a pooler has changed it, or another
 * version the schema. It is said before anything is done.
 */
const isForgotten = (error: unknown): boolean =>
  error instanceof StorageError &&
  error.cause instanceof Error &&
  "code" in error.cause &&
  forgotten.has(error.cause.code);

/** By SQLSTATE: there is none of that name; there is one already; its result has other columns by now. */
const forgotten: ReadonlySet<unknown> = new Set(["26000", "42P05", "0A000"]);

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

/** Null for what is no address, such as an environment variable that is not set. The error may show it, with its password: it is not passed on. */
const ownAddressOf = (connectionString: string | undefined): string | null => {
  try {
    if (connectionString !== undefined && wellFormed.test(connectionString)) return addressOf({ connectionString });
  } catch {}
  return null;
};

const noAddress =
  "postgresStore: connectionString is no address of a database, or names a file of a certificate that can't be read; " +
  'give one like "postgres://user:password@host:5432/database", with special characters percent-encoded.';

/** With a "@" or a "/" too many, a part of the password is taken for a host or a database, and would be shown as that. */
const wellFormed = /^postgres(ql)?:\/\/([^@/?#]*@)?[^@/?#]*([/?#][^@]*)?$/;

/** The longest that a timer takes: 24 days. */
const foreverMs = 2 ** 31 - 1;

const ignore = (): void => {};
