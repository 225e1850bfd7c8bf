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
    // The store sends its statements by this method. One is counted when it is sent, since a closed host may have left
    // a look at the inboxes under way.
    const query = async (given: pg.QueryConfig) => {
      calls += 1;
      const result = await own.query<Record<string, unknown>>(given);
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
