import { createHash } from "node:crypto";

import pg from "pg";

import { StorageError } from "@colloquy/host/store";
import { postgresFailure } from "./failure.ts";
import { migrate } from "./migrate.ts";
import type { PostgresPool } from "./pool.ts";
import { quoted } from "./schema.ts";
import { answerInTime, untilDone } from "../servers.ts";

export interface Connection {
  readonly schema: string;
  /** A description of the store for messages. */
  readonly name: string;
  /** Sends one statement, after the schema exists. The caller names the type of the rows. Throws `StorageError`. */
  readonly query: <Row>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;
  /** Prepares a statement that is sent often: each connection of the pool parses it once. */
  readonly prepared: <Row>(text: string) => (values: readonly unknown[]) => Promise<readonly Row[]>;
  /** Sends a statement without a time limit. */
  readonly work: (text: string) => Promise<void>;
  /** Returns the time that leases are judged by; null for the server's. */
  readonly now: () => number | null;
  readonly close: () => Promise<void>;
}

interface Statement {
  /** The name of a prepared statement on a connection. */
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

/** Connects and migrates the schema at the first query. If the address is invalid, every query is rejected. */
export const connect = (options: ConnectionOptions): Connection => {
  const { pool: given, connectionString, schema, now, timeoutMs } = options;
  const pool = given ?? ownPool(connectionString, timeoutMs);
  const address = given === undefined ? ownAddressOf(connectionString) : addressOfPool(given);
  const name = `PostgreSQL store "${schema}"${address ?? ""}`;
  // A lost server breaks the idle connections of the pool, which makes new ones on demand. The pool emits an error
  // event then, which would end the process if it had no listener.
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
    // The driver types a row as any; each caller names the columns of its own statement.
    return rows as readonly Row[];
  };
  let canPrepare = true;
  return {
    schema: quoted(schema),
    name,
    now,
    query: (text, values) => send({ text, values: [...values] }),
    prepared: <Row>(text: string) => {
      const statement = statementName(text);
      return async (values: readonly unknown[]) => {
        const unprepared = { text, values: [...values] };
        if (!canPrepare) return send<Row>(unprepared);
        try {
          return await send<Row>({ ...unprepared, name: statement });
        } catch (error) {
          if (!isForgotten(error)) throw error;
          canPrepare = false;
          return send<Row>(unprepared);
        }
      };
    },
    work: async (text) => {
      await ready();
      await attempt(() => pool.query({ text, query_timeout: foreverMs }), Infinity);
    },
    close: async () => {
      closed = true;
      if (given === undefined) await answerInTime(timeoutMs, pool.end(), name).catch(ignore);
    },
  };
};

/** Names a statement by its text alone, as a pooler may give its connection to another store. */
const statementName = (text: string): string => `colloquy_${createHash("sha256").update(text).digest("base64url")}`;

/** Checks whether a connection lacks a prepared statement. The server reports that before it runs anything. */
const isForgotten = (error: unknown): boolean =>
  error instanceof StorageError &&
  error.cause instanceof Error &&
  "code" in error.cause &&
  forgotten.has(error.cause.code);

/** SQLSTATE codes: the name is unknown; the name is taken; the columns of the result have changed. */
const forgotten: ReadonlySet<unknown> = new Set(["26000", "42P05", "0A000"]);

const ownPool = (connectionString: string | undefined, timeoutMs: number): PostgresPool =>
  new pg.Pool({
    ...(connectionString !== undefined && { connectionString }),
    connectionTimeoutMillis: timeoutMs,
    // A hanging connection is abandoned and replaced.
    query_timeout: timeoutMs,
    keepAlive: true,
    application_name: "colloquy",
    // An open store must not keep the process alive.
    allowExitOnIdle: true,
  });

/** Returns the address of a database, without user and password. */
const addressOf = (options: object): string => {
  const { host, port, database } = new pg.Client(options);
  return ` at ${host}:${port}/${database ?? ""}`;
};

const addressOfPool = (pool: PostgresPool): string => {
  try {
    return addressOf(pool.options ?? {});
  } catch {
    return "";
  }
};

/** Returns the address; null if it is invalid. The parser's error is dropped, as it may contain the password. */
const ownAddressOf = (connectionString: string | undefined): string | null => {
  try {
    if (connectionString !== undefined && wellFormed.test(connectionString)) return addressOf({ connectionString });
  } catch {}
  return null;
};

const noAddress =
  "postgresStore: connectionString is not the URL of a database, or its certificate files cannot be read; " +
  'give one like "postgres://user:password@host:5432/database", with special characters percent-encoded.';

/** With an extra "@" or "/", a part of the password would be parsed as the host or database and then shown. */
const wellFormed = /^postgres(ql)?:\/\/([^@/?#]*@)?[^@/?#]*([/?#][^@]*)?$/;

/** The longest timer: 24 days. */
const foreverMs = 2 ** 31 - 1;

const ignore = (): void => {};
