import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, test } from "vitest";

import { type PostgresStore, postgresStore } from "../../../src/stores/postgres/index.ts";
import { said, take } from "../journal.ts";
import { type PostgresServer, withPostgres } from "./server.ts";

withPostgres("Words that were deleted from PostgreSQL", (server) => {
  test("can't be reached by any statement, also after statistics were gathered", async () => {
    const schema = server.schema();
    const store = await written(server, schema, "zanzibar");
    await server.rows(`ANALYZE`);
    expect(await reachable(server, schema)).toContain("zanzibar");
    const lease = await take(store, "redacted");
    await store.rewrite(lease, [{ ...said(1, "[redacted]"), redacted: true }]);
    await store.delete("deleted");
    const left = await reachable(server, schema);
    expect(left).toContain("harmless");
    expect(left).not.toContain("zanzibar");
    await store.close();
  });

  test("are not in the files of the database after vacuum()", async () => {
    const schema = server.schema();
    const store = await written(server, schema, "timbuktu");
    await server.rows("CHECKPOINT");
    expect(await files(server)).toContain("timbuktu");
    await store.rewrite(await take(store, "redacted"), [{ ...said(1, "[redacted]"), redacted: true }]);
    await store.delete("deleted");
    await store.vacuum();
    await server.rows("CHECKPOINT");
    const left = await files(server);
    expect(left).toContain("harmless");
    expect(left).not.toContain("timbuktu");
    await store.close();
  });
});

/** Writes two threads, in which everything that a store keeps has a word and something harmless. */
const written = async (server: PostgresServer, schema: string, word: string): Promise<PostgresStore> => {
  const store = postgresStore({ connectionString: await server.url(), schema });
  for (const threadId of ["deleted", "redacted"]) {
    const lease = await take(store, threadId);
    await store.append(lease, -1, [said(0, "harmless"), said(1, `${word} ${"of many words ".repeat(1000)}`)]);
    const chunks = new Map([["1-64", `${word} in a chunk`]]);
    await store.saveSnapshot(lease, { threadId, seq: 1, head: `${word} in a head`, chunks, dropped: [] });
  }
  const lease = await take(store, "deleted");
  const metadata = { user: word };
  await store.append(lease, 1, [{ seq: 2, event: { type: "metadata.changed", at: 2, metadata } }]);
  const cancel = { type: "cancel.requested", at: 3, reason: word } as const;
  for (const id of ["answered", "unanswered"]) await store.inbox.post("deleted", { id, event: cancel });
  await store.inbox.answer(lease, [{ id: "answered", handled: false, refusal: { kind: "unknown", reason: word } }]);
  return store;
};

/** Returns all rows of the schema, and the server's statistics of their columns. */
const reachable = async (server: PostgresServer, schema: string): Promise<string> => {
  const tables = await server.rows(`SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}'`);
  const rows = await Promise.all(tables.map(({ name }) => server.rows(`SELECT * FROM ${schema}."${String(name)}"`)));
  const statistics = await server.rows(`SELECT * FROM pg_stats WHERE schemaname = '${schema}'`);
  return JSON.stringify([rows, statistics]);
};

/** Returns the bytes of all files of the database. */
const files = async (server: PostgresServer): Promise<string> => {
  const [place] = await server.rows(
    `SELECT current_setting('data_directory') AS data, oid FROM pg_database WHERE datname = current_database()`,
  );
  const folder = join(String(place?.["data"]), "base", String(place?.["oid"]));
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "latin1"))
    .join("\n");
};
