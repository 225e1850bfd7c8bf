import pg from "pg";
import { expect, test } from "vitest";

import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { migrate } from "../../../src/stores/postgres/migrate.ts";
import { steps } from "../../../src/stores/postgres/schema.ts";
import type { PostgresPool } from "../../../src/stores/postgres/pool.ts";
import { said, take } from "../journal.ts";
import { withPostgres } from "./server.ts";

/** Stands in for a server whose schema has this version; undefined for none. Records the statements. */
const poolOf = (version: number | undefined, row: object = {}) => {
  const sent: string[] = [];
  const released: unknown[] = [];
  const client = {
    on: () => client,
    off: () => client,
    release: (broken?: unknown) => void released.push(broken),
    query: async (text: string) => {
      sent.push(text.replace(/\s[^]*/, ""));
      if (text.includes("to_regclass"))
        return { rows: [{ ours: version !== undefined, encoding: "UTF8", taken: version !== undefined, ...row }] };
      if (text.includes("SELECT steps")) return { rows: [{ steps: version }] };
      if (text.includes("absent")) return { rows: [{ absent: false }] };
      return { rows: [] };
    },
  };
  // Cast: only these members are used.
  return { sent, released, pool: { connect: async () => client } as unknown as PostgresPool };
};

const twoSteps = [() => "ONE", () => "TWO"];

test("a schema that is up to date is neither locked nor written, and its connection goes back to the pool", async () => {
  const { pool, sent, released } = poolOf(2);
  await migrate(pool, "a", "the store", 1000, twoSteps);
  expect(sent).toEqual(["SELECT", "SELECT"]);
  expect(released).toEqual([undefined]);
});

test.each([
  [undefined, ["CREATE", "INSERT", "ONE", "TWO", "UPDATE", "COMMIT"]],
  [0, ["CREATE", "INSERT", "ONE", "TWO", "UPDATE", "COMMIT"]],
  [1, ["TWO", "UPDATE", "COMMIT"]],
])("a schema of version %s takes the steps that are left", async (version, expected) => {
  const { pool, sent, released } = poolOf(version);
  await migrate(pool, "a", "the store", 1000, twoSteps);
  expect(sent.slice(-expected.length)).toEqual(expected);
  expect(sent.filter((word) => ["ONE", "TWO"].includes(word))).toEqual(expected.filter((word) => /ONE|TWO/.test(word)));
  expect(released).toEqual([undefined]);
});

test.each<[number | undefined, object, string, string]>([
  [3, {}, "newer", "it has schema 3, and this version of @colloquy/runtime-node knows up to 2; update the package."],
  [
    undefined,
    { encoding: "LATIN1" },
    "cannot-open",
    "the database keeps text as LATIN1; make one with ENCODING 'UTF8'.",
  ],
  [
    undefined,
    { taken: true },
    "not-a-store",
    'the schema "a" belongs to something else; choose a schema for conversations alone.',
  ],
])(
  "a schema of version %s with %j is refused as %s, and its connection is closed",
  async (version, row, kind, words) => {
    const { pool, released } = poolOf(version, row);
    await expect(migrate(pool, "a", "the store", 1000, twoSteps)).rejects.toMatchObject({
      kind,
      message: `the store: ${words}`,
    });
    expect(released).toEqual([true]);
  },
);

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
