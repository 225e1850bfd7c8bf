import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Clock } from "@colloquy/host";
import type { Reserve } from "../reserve.ts";
import { StorageError } from "@colloquy/host/store";
import { refuseTorn } from "../store-arguments.ts";
import { sqliteFailure } from "./failure.ts";
import { fs } from "../../ports/system.ts";

/** An open database file, and a clock. */
export interface Connection {
  readonly database: DatabaseSync;
  readonly path: string;
  /** A description of the store for messages. */
  readonly name: string;
  readonly file: OpenedFile;
  readonly clock: Pick<Clock, "now">;
  /** Whether the driver reads a text with a NUL completely. */
  readonly keepsNul: boolean;
  readonly reserve: Reserve;
  readonly begin: StatementSync;
  readonly beginReading: StatementSync;
  readonly commit: StatementSync;
  readonly rollback: StatementSync;
}

export const nameOf = (path: string): string => `SQLite store "${path}"`;

/** A statement that reads rows. */
export interface Query<Row> {
  get(...values: readonly SQLInputValue[]): Row | undefined;
  all(...values: readonly SQLInputValue[]): readonly Row[];
  iterate(...values: readonly SQLInputValue[]): Iterable<Row>;
}

/** Prepares a query, whose caller names the columns: they come from STRICT tables, and the driver types any record. */
export const query = <Row>(database: DatabaseSync, sql: string): Query<Row> =>
  // As above.
  database.prepare(sql) as unknown as Query<Row>;

export const connectionOver = (
  database: DatabaseSync,
  path: string,
  clock: Pick<Clock, "now">,
  reserve: Reserve,
): Connection => ({
  database,
  path,
  name: nameOf(path),
  file: openedFile(database, path, clock),
  clock,
  reserve,
  keepsNul: database.prepare("SELECT ? AS text").get("a\0b")?.["text"] === "a\0b",
  begin: database.prepare("BEGIN IMMEDIATE"),
  beginReading: database.prepare("BEGIN"),
  commit: database.prepare("COMMIT"),
  rollback: database.prepare("ROLLBACK"),
});

/** Runs one operation, and turns errors of SQLite into a `StorageError`. */
export const attempt = <A>({ database, path, name, file }: Connection, operation: () => A): A => {
  if (!database.isOpen) throw new StorageError("closed", `${name}: it was closed; open it again.`);
  file.checkNowAndThen();
  try {
    return operation();
  } catch (error) {
    throw sqliteFailure(error, path);
  }
};

/** Runs `operation` so that all its reads see one moment, whatever other processes write meanwhile. */
export const reading = <A>(connection: Connection, operation: () => A): A =>
  attempt(connection, () => {
    const { database, beginReading, commit } = connection;
    beginReading.run();
    try {
      return operation();
    } finally {
      if (database.isTransaction) commit.run();
    }
  });

/** Runs `operation` so that it writes everything or nothing. It takes the lock first, so its reads are not stale. */
export const writing = <A>(connection: Connection, operation: () => A): A =>
  attempt(connection, () => {
    const { database, file, begin, commit, rollback } = connection;
    begin.run();
    try {
      file.check();
      const result = operation();
      commit.run();
      return result;
    } catch (error) {
      // On a full disk SQLite has already rolled back by itself.
      if (database.isTransaction) rollback.run();
      throw error;
    }
  });

/** Runs a writing operation that must succeed on a full disk too; it may use the reserved room. */
export const writingAnyway = <A>(connection: Connection, operation: () => A): A =>
  connection.reserve.makingRoom(() => writing(connection, operation));

/**
 * Rejects ids that SQLite cannot keep. It stores text as UTF-8, where ids with lone surrogates would collide. Old
 * drivers of Node read a text only up to a NUL.
 */
export const refuseUnstorable = ({ name, keepsNul }: Connection, threadId: string): void => {
  refuseTorn(name, threadId);
  if (keepsNul || !threadId.includes("\0")) return;
  throw new StorageError(
    "invalid-id",
    `${name}: the thread id ${JSON.stringify(threadId.slice(0, 100))} holds NUL, up to which this version of Node reads a text; choose another id, or take a newer Node.`,
  );
};

/**
 * The opened file, while its path leads to it. SQLite continues to use a file that was deleted or moved. Then its
 * acknowledged writes are lost on closing, and a process that opens the path has other leases.
 */
export interface OpenedFile {
  readonly isInPlace: () => boolean;
  /** Throws a `StorageError` if another file, or none, is in its place. */
  readonly check: () => void;
  /** Does the same for frequent operations. If appends are not flushed, a recent check suffices. */
  readonly checkNowAndThen: () => void;
}

const openedFile = (database: DatabaseSync, path: string, clock: Pick<Clock, "now">): OpenedFile => {
  // Null for a database in memory.
  const location = database.location();
  const opened = location === null ? undefined : identityOf(location);
  const unseenMs = isFlushing(database) ? 0 : 100;
  let checkedAt = -Infinity;
  const isInPlace = (): boolean => opened === undefined || location === null || identityOf(location) === opened;
  const check = (): void => {
    checkedAt = clock.now();
    if (isInPlace()) return;
    checkedAt = -Infinity;
    throw new StorageError(
      "cannot-open",
      `SQLite store "${path}": the file that was opened was deleted or moved, or another has taken its place; what would be written now would be lost. Put it back, or stop all processes that use it and open the store again.`,
    );
  };
  return {
    isInPlace,
    check,
    checkNowAndThen: () => {
      const since = clock.now() - checkedAt;
      if (!(since >= 0 && since < unseenMs)) check();
    },
  };
};

/** Returns undefined if the file does not exist or may not be read. */
const identityOf = (location: string): string | undefined => {
  try {
    const { dev, ino } = fs.statSync(location, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
};

/** Checks whether appends wait for the disk. A check of the file takes 2 µs, a tenth of an unflushed append. */
const isFlushing = (database: DatabaseSync): boolean =>
  Number(database.prepare("PRAGMA synchronous").get()?.["synchronous"]) >= 2;
