import { storeContract } from "@colloquy/runtime-test/contracts";
import pg from "pg";
import { afterAll } from "vitest";

import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { tableNames } from "../../../src/stores/postgres/schema.ts";
import { withPostgres } from "./server.ts";

withPostgres("PostgreSQL", (server) => {
  let janitor: pg.Pool | null = null;
  afterAll(() => janitor?.end());
  let made = 0;
  // Making a schema takes long, so schemas are emptied and reused once no check can still use them.
  const emptySchema = async (): Promise<string> => {
    const schema = `contract_${made % schemasMax}`;
    made += 1;
    janitor ??= new pg.Pool({ connectionString: await server.url(), max: 1 }).on("error", droppedWithTheDatabase);
    if (made > schemasMax) {
      await janitor.query(tableNames.map((table) => `DELETE FROM ${schema}.${table};`).join("\n"));
    }
    return schema;
  };

  storeContract("postgresStore", async ({ clock }) => {
    const schema = await emptySchema();
    const connectionString = await server.url();
    const open = () => postgresStore({ connectionString, schema, clock });
    const store = open();
    return {
      store,
      reopen: async () => {
        await store.close();
        return open();
      },
      another: async () => open(),
    };
  });
});

const schemasMax = 8;

/** Ignores errors: a pool ends before its connections do, and the database may be dropped under a closing one. */
const droppedWithTheDatabase = (): void => {};
