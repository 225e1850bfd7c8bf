import pg from "pg";
import { expect, test } from "vitest";

import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { migrate } from "../../../src/stores/postgres/migrate.ts";
import { steps } from "../../../src/stores/postgres/schema.ts";
import { said, take } from "../journal.ts";
import { withPostgres } from "./server.ts";

withPostgres("The schema in PostgreSQL", (server) => {
  const migrateBy = async (schema: string, known: readonly ((schema: string) => string)[]): Promise<void> => {
    // `end` does not wait for the connection to close, so dropping the database may break it.
    const pool = new pg.Pool({ connectionString: await server.url() }).on("error", () => {});
    try {
      await migrate(pool, schema, `the store "${schema}"`, 7_000, known);
    } finally {
      await pool.end();
    }
  };
  const stepsSeen = async (schema: string): Promise<unknown> => server.rows(`SELECT steps FROM ${schema}.version`);

  test("is made once by many stores that begin at the same moment", async () => {
    const [schema, connectionString] = [server.schema(), await server.url()];
    const stores = Array.from({ length: 8 }, () => postgresStore({ connectionString, schema }));
    const leases = await Promise.all(stores.map((store, index) => store.acquire("thread", `owner ${index}`, 60_000)));
    expect(leases.filter((lease) => lease !== null)).toHaveLength(1);
    expect(await stepsSeen(schema)).toEqual([{ steps: steps.length }]);
    for (const store of stores) await store.close();
  });

  test("goes through each step once, and keeps what is there", async () => {
    const [schema, connectionString] = [server.schema(), await server.url()];
    const store = postgresStore({ connectionString, schema });
    await store.append(await take(store), -1, [said(0, "kept")]);
    await store.close();
    const later = [...steps, (name: string) => `ALTER TABLE ${name}.entries ADD COLUMN note text`];
    await Promise.all([migrateBy(schema, later), migrateBy(schema, later), migrateBy(schema, later)]);
    await migrateBy(schema, later);
    expect(await stepsSeen(schema)).toEqual([{ steps: steps.length + 1 }]);
    expect(await server.rows(`SELECT body, note FROM ${schema}.entries`)).toEqual([
      { body: JSON.stringify(said(0, "kept")), note: null },
    ]);
  });

  test("stays as it was when a step fails, and goes on when it fails no more", async () => {
    const schema = server.schema();
    const half = (name: string): string => `CREATE TABLE ${name}.half (a integer)`;
    await expect(migrateBy(schema, [...steps, half, half])).rejects.toThrow(/already exists/);
    expect(await server.rows(`SELECT to_regnamespace('${schema}') AS there`)).toEqual([{ there: null }]);
    await migrateBy(schema, [...steps, half]);
    expect(await stepsSeen(schema)).toEqual([{ steps: steps.length + 1 }]);
  });

  test("keeps nobody waiting for a process that hangs while it has the lock", async () => {
    const [schema, connectionString] = [server.schema(), await server.url()];
    await migrateBy(schema, steps);
    const hanging = new pg.Client({ connectionString });
    await hanging.connect();
    await hanging.query("BEGIN");
    await hanging.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`colloquy ${schema}`]);
    const store = postgresStore({ connectionString, schema, timeoutMs: 5_000 });
    try {
      expect(await store.read("thread")).toEqual([]);
    } finally {
      await store.close();
      await hanging.end();
    }
  });

  test("is made by a process that loses the lock when it falls silent", async () => {
    const schema = server.schema();
    const setting = "current_setting('idle_in_transaction_session_timeout')";
    await migrateBy(schema, [...steps, (name) => `CREATE TABLE ${name}.silence AS SELECT ${setting} AS most`]);
    expect(await server.rows(`SELECT most FROM ${schema}.silence`)).toEqual([{ most: "7s" }]);
  });

  test("is refused when a newer version made it, and when it belongs to something else", async () => {
    const [newer, foreign, connectionString] = [server.schema(), server.schema(), await server.url()];
    await migrateBy(newer, [...steps, (name) => `CREATE TABLE ${name}.more (a integer)`]);
    const behind = postgresStore({ connectionString, schema: newer });
    await expect(behind.read("thread")).rejects.toMatchObject({ name: "StorageError", kind: "newer" });
    await expect(behind.read("thread")).rejects.toThrow(`it has schema ${steps.length + 1}`);
    await server.rows(`CREATE SCHEMA ${foreign}; CREATE TABLE ${foreign}.theirs (a integer)`);
    const stranger = postgresStore({ connectionString, schema: foreign });
    await expect(stranger.list()).rejects.toMatchObject({ name: "StorageError", kind: "not-a-store" });
    await behind.close();
    await stranger.close();
  });

  test("may be one that somebody made before, empty, for a user who can't make any", async () => {
    const [schema, url] = [server.schema(), new URL(await server.url())];
    const user = url.pathname.slice(1);
    await server.rows(`CREATE ROLE ${user} LOGIN; CREATE SCHEMA ${schema} AUTHORIZATION ${user}`);
    url.username = user;
    const [store, without] = [schema, server.schema()].map((name) =>
      postgresStore({ connectionString: url.href, schema: name }),
    );
    try {
      if (store === undefined || without === undefined) throw new Error("two stores were opened");
      await store.append(await take(store), -1, [said(0, "mine")]);
      await expect(without.list()).rejects.toMatchObject({ name: "StorageError", kind: "cannot-open" });
    } finally {
      await store?.close();
      await without?.close();
      await server.rows(`DROP SCHEMA ${schema} CASCADE; DROP ROLE ${user}`);
    }
  });
});
