import pg from "pg";
import { expect, test } from "vitest";

import type { Store } from "@colloquy/host";

import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { withPostgres } from "./server.ts";
import { take } from "../journal.ts";

const turns = async (store: Store, between: () => Promise<unknown>): Promise<readonly unknown[]> => {
  const lease = await take(store, "t");
  await store.append(lease, -1, [{ seq: 0, format: 2, event: { type: "thread.started", at: 1, threadId: "t" } }]);
  for (const seq of [1, 2, 3]) {
    await between();
    await store.append(lease, seq - 1, [{ seq, event: { type: "checkpoint.named", at: seq, name: `c${seq}` } }]);
  }
  await store.release(lease);
  return store.read("t", 0);
};

withPostgres("prepared statements", (server) => {
  test("are known again by each connection", async () => {
    const pool = new pg.Pool({ connectionString: await server.url(), max: 1 });
    const store = postgresStore({ pool, schema: server.schema() });
    expect(await turns(store, async () => {})).toHaveLength(4);
    const { rows } = await pool.query<{ readonly uses: string }>(
      "SELECT generic_plans + custom_plans AS uses FROM pg_prepared_statements WHERE statement LIKE '%append(%'",
    );
    expect(rows).toEqual([{ uses: "4" }]);
    await store.close();
    await pool.end();
  });

  test("that a connection has forgotten are sent again, and no longer prepared", async () => {
    const pool = new pg.Pool({ connectionString: await server.url(), max: 1 });
    const store = postgresStore({ pool, schema: server.schema() });
    const read = await turns(store, () => pool.query("DEALLOCATE ALL"));
    expect(read).toMatchObject([0, 1, 2, 3].map((seq) => ({ seq })));
    expect((await pool.query("SELECT name FROM pg_prepared_statements")).rows).toEqual([]);
    await store.close();
    await pool.end();
  });

  test.each([
    ["42P05", "is there already"],
    ["0A000", "has other columns by now"],
  ])("are not prepared where one answers with %s: it %s", async (code) => {
    const own = new pg.Pool({ connectionString: await server.url(), max: 2 });
    const pool: typeof own = Object.create(own);
    const names: (string | undefined)[] = [];
    const query = (given: pg.QueryConfig) => {
      names.push(given.name);
      return given.name === undefined ? own.query(given) : Promise.reject(Object.assign(new Error("no"), { code }));
    };
    Object.assign(pool, { query });
    const store = postgresStore({ pool, schema: server.schema() });
    expect(await turns(store, async () => {})).toHaveLength(4);
    expect(names.filter((name) => name !== undefined)).toHaveLength(1);
    await store.close();
    await own.end();
  });
});
