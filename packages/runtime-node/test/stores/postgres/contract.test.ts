import { storeContract } from "@colloquy/runtime-test/contracts";

import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { withPostgres } from "./server.ts";

withPostgres("PostgreSQL", (server) => {
  storeContract("postgresStore", async ({ clock }) => {
    const connectionString = await server.url();
    const schema = server.schema();
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
