import pg from "pg";
import { expect, test } from "vitest";

import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { opensLittle } from "../long-thread.ts";
import { withPostgres } from "./server.ts";

withPostgres("a long thread in PostgreSQL", (server) => {
  test("is opened by what is looked at of it", { timeout: 120_000 }, async () => {
    const own = new pg.Pool({ connectionString: await server.url(), max: 4 });
    let [calls, bytes] = [0, 0];
    const pool: typeof own = Object.create(own);
    // The store sends its statements by this method.
    const query = async (given: pg.QueryConfig) => {
      const result = await own.query<Record<string, unknown>>(given);
      calls += 1;
      bytes += JSON.stringify(result.rows).length;
      return result;
    };
    Object.assign(pool, { query });
    const store = postgresStore({ pool, schema: server.schema() });
    await opensLittle(store, () => {
      const since = { calls, bytes };
      [calls, bytes] = [0, 0];
      return since;
    });
    expect(calls).toBe(0);
    await store.close();
    await own.end();
  });
});
