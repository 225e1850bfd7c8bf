import { inspect } from "node:util";

import { StorageError } from "@colloquy/host/store";
import pg from "pg";
import { expect, test } from "vitest";

import { postgresFailure } from "../../../src/stores/postgres/failure.ts";
import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { checkDamagedAnswer, checkDamagedLetters } from "../damaged-inbox.ts";
import { said, take } from "../journal.ts";
import { withPostgres } from "./server.ts";

const secret = "hunter2@secret";

test.each([
  ["that is no address", "not an address, hunter2"],
  ["with a password that is not encoded", "postgres://user:a@b@hunter2/database"],
  ["with a password that is not encoded, and a slash in it", "postgres://user:5/hunter2@host/database"],
  ["with a port that is none", "postgres://user:hunter2@host:99999/database"],
  ["with a certificate that is not there", "postgres://user:hunter2@host/database?sslrootcert=/nowhere"],
])("a connection string %s is refused by each call, without showing it", async (_, connectionString) => {
  const store = postgresStore({ connectionString });
  const error: unknown = await store.list().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "StorageError", kind: "cannot-open" });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter2");
});

test.each<[string | undefined, string, string]>([
  ["53100", "could not extend file", "full"],
  ["23505", "duplicate key value violates unique constraint", "corrupt"],
  ["58030", "could not read block", "io"],
  ["25006", "cannot execute INSERT in a read-only transaction", "read-only"],
  ["28P01", "password authentication failed", "cannot-open"],
  ["42501", "permission denied", "cannot-open"],
  ["40001", "could not serialize access", "locked"],
  ["57014", "canceling statement due to statement timeout", "locked"],
  ["57P01", "terminating connection due to administrator command", "unreachable"],
  ["57P03", "the database system is starting up", "unreachable"],
  ["53300", "sorry, too many clients already", "unreachable"],
  ["08006", "connection failure", "unreachable"],
  ["XX001", "invalid page in block", "corrupt"],
  ["22P02", "invalid input syntax", "failed"],
  ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:1", "unreachable"],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND nowhere", "unreachable"],
  ["EPIPE", "write EPIPE", "unreachable"],
  [undefined, "Connection terminated unexpectedly", "unreachable"],
  [undefined, "timeout exceeded when trying to connect", "unreachable"],
  [undefined, "Cannot use a pool after calling end on the pool", "closed"],
  [undefined, "something else", "failed"],
])("%s, %s, is a failure of kind %s", (code, message, kind) => {
  const failure = postgresFailure(Object.assign(new Error(message), code && { code }), "the store");
  expect(failure).toMatchObject({ name: "StorageError", kind, message: expect.stringContaining("the store: ") });
  expect(String(failure)).toContain(kind === "closed" ? "closed" : message);
  expect(String(failure)).not.toContain("undefined");
});

test("a server that is not there is told by its address, without user and password", async () => {
  const connectionString = "postgres://user:hunter2@127.0.0.1:1/ours";
  const stores = [
    postgresStore({ connectionString, schema: "talks" }),
    postgresStore({ pool: new pg.Pool({ connectionString }), schema: "talks" }),
  ];
  for (const store of stores) {
    const error: unknown = await store.list().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "StorageError", kind: "unreachable" });
    expect(String(error)).toMatch(
      /^StorageError: PostgreSQL store "talks" at 127\.0\.0\.1:1\/ours: its server does not answer \(connect ECONNREFUSED/,
    );
    expect(String(error)).not.toContain("hunter2");
    await store.close();
  }
});

const down = "its server is not there now; try again. Whether the last write arrived is not known";
const refusal = "the server refuses the login; check the user, its password, its rights and the name of the database";

test.each<[string, string, string]>([
  ["08006", "unreachable", down],
  ["57P01", "unreachable", down],
  ["57P02", "unreachable", down],
  ["57P03", "unreachable", down],
  ["25P03", "unreachable", down],
  ["53300", "unreachable", "its server has no connection left; allow more, or use smaller pools"],
  ["53100", "full", "the disk of its server is full; make room and try again"],
  ["58030", "io", "the disk of its server refused to read or write; look at the disk"],
  ["25006", "read-only", "it may only be read; connect to the primary server, as a user that may write"],
  [
    "42501",
    "cannot-open",
    "the user has not the rights; grant it CREATE on the database, or all on the schema and what is in it",
  ],
  ["28P01", "cannot-open", refusal],
  ["3D000", "cannot-open", refusal],
  ["3F000", "cannot-open", "its schema is gone; open the store again"],
  ["42P01", "cannot-open", "its tables are gone; open the store again"],
  ["42883", "cannot-open", "its functions are gone; open the store again"],
  ["55P03", "locked", "another client keeps it locked; try again"],
  ["57014", "locked", "the server cancelled it after statement_timeout; try again, or allow more"],
  ["40P01", "locked", "another client wrote at the same moment; try again"],
  ["23505", "corrupt", "entries were removed, and what is kept beside them was not; delete the thread, or restore it"],
  ["XX002", "corrupt", "an index is damaged; run REINDEX on the schema"],
])("%s is a failure of kind %s, and says: %s", (code, kind, advice) => {
  const failure = postgresFailure(Object.assign(new Error("no"), { code }), "the store");
  expect(failure).toMatchObject({ kind, message: `the store: ${advice} (no).` });
});

test("an error of the system without a message goes by its code, and one that only looks like SQL's is not its", () => {
  const failureOf = (code: string, message: string) =>
    postgresFailure(Object.assign(new Error(message), { code }), "the store");
  const gone = (words: string): string =>
    `the store: its server does not answer (${words}); look whether it runs, and try again. Whether the last write arrived is not known.`;
  expect(failureOf("ETIMEDOUT", "")).toMatchObject({ kind: "unreachable", message: gone("ETIMEDOUT") });
  expect(failureOf("EPIPE", "write EPIPE")).toMatchObject({ kind: "unreachable", message: gone("write EPIPE") });
  expect(failureOf("22P02", "odd")).toMatchObject({ kind: "failed", message: "the store: odd." });
});

test("postgresFailure says what to do, names the row of a duplicate word, and returns other errors unchanged", () => {
  const failureOf = (error: object) => String(postgresFailure(Object.assign(new Error("no"), error), "the store"));
  expect(failureOf({ code: "XX001" })).toBe(
    "StorageError: the store: what is stored is damaged; restore it from a backup (no).",
  );
  const detail = "Key (thread, seq)=(1, 2) already exists.";
  expect(failureOf({ code: "23505", table: "words", detail })).toContain(`(no: ${detail}).`);
  expect(failureOf({ code: "23505", table: "threads", detail })).toContain("(no).");
  expect(failureOf({ code: "ECONNREFUSED" })).toContain("does not answer (no); look whether it runs");
  const own = new StorageError("full", "no room");
  for (const error of [own, "odd", null]) expect(postgresFailure(error, "the store")).toBe(error);
});

withPostgres("PostgreSQL that refuses", (server) => {
  test("a database or a user that is not there is told in words, without the password", async () => {
    const [database, user] = [new URL(await server.url()), new URL(await server.url())];
    database.pathname = "nowhere";
    user.username = "nobody_known";
    for (const url of [database, user]) {
      url.password = secret;
      const store = postgresStore({ connectionString: url.href });
      const error: unknown = await store.list().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "StorageError", kind: "cannot-open" });
      expect(String(error)).toContain(`127.0.0.1:${url.port}`);
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain("hunter2");
      await store.close();
    }
  });

  test("a store that may only be read says so, and is read", async () => {
    const [connectionString, schema] = [await server.url(), server.schema()];
    const store = postgresStore({ connectionString, schema });
    await store.append(await take(store), -1, [said(0, "to be read")]);
    await store.close();
    const url = new URL(connectionString);
    url.searchParams.set("options", "-c default_transaction_read_only=on");
    const reader = postgresStore({ connectionString: url.href, schema });
    expect(await reader.read("thread")).toEqual([said(0, "to be read")]);
    await expect(reader.acquire("other", "owner", 1)).rejects.toMatchObject({ kind: "read-only" });
    await reader.close();
  });

  test("an entry that is damaged is named", async () => {
    const [connectionString, schema] = [await server.url(), server.schema()];
    const store = postgresStore({ connectionString, schema });
    await store.append(await take(store), -1, [said(0, "first"), said(1, "second")]);
    await server.rows(`UPDATE ${schema}.entries SET body = left(body, 9) WHERE seq = 1`);
    await expect(store.read("thread")).rejects.toMatchObject({ kind: "corrupt" });
    await expect(store.read("thread")).rejects.toThrow(/entry 1 of thread "thread" is not JSON/);
    await store.close();
  });

  test("a letter that is damaged keeps no other from being read", async () => {
    const [connectionString, schema] = [await server.url(), server.schema()];
    const store = postgresStore({ connectionString, schema });
    const spoiling = (column: string) => (_: string, id: string, text: string) =>
      server.rows(`UPDATE ${schema}.letters SET ${column} = '${text}' WHERE id = '${id}'`);
    await checkDamagedLetters(store, spoiling("letter"));
    await checkDamagedAnswer(store, spoiling("answer"));
    await store.close();
  });

  test("a pool that was handed in is not ended, and a closed store says that it is closed", async () => {
    const pool = new pg.Pool({ connectionString: await server.url() });
    const store = postgresStore({ pool, schema: server.schema() });
    await store.append(await take(store), -1, [said(0, "by a pool")]);
    await store.close();
    await store.close();
    await expect(store.list()).rejects.toMatchObject({ name: "StorageError", kind: "closed" });
    expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    const again = postgresStore({ pool, schema: server.schema() });
    await again.list();
    await pool.end();
    await expect(again.list()).rejects.toMatchObject({ name: "StorageError", kind: "closed" });
  });

  test("leases run out by the server's time when no clock is given", async () => {
    const [connectionString, schema] = [await server.url(), server.schema()];
    const store = postgresStore({ connectionString, schema });
    const lease = await take(store, "thread", "first", 60_000);
    expect(await store.acquire("thread", "second", 60_000)).toBeNull();
    await server.rows(`UPDATE ${schema}.leases SET expires_at = expires_at - 60001`);
    await expect(store.append(lease, -1, [said(0, "late")])).rejects.toMatchObject({ name: "LeaseLostError" });
    const next = await take(store, "thread", "second", 60_000);
    await store.append(next, -1, [said(0, "in time")]);
    await store.close();
  });
});
