import { postgresStore } from "../../../src/stores/postgres/index.ts";
import { outageTests } from "../outages.ts";
import { withPostgres } from "./server.ts";

withPostgres("PostgreSQL that is away", (server) => {
  outageTests(async () => {
    const schema = server.schema();
    return {
      url: await server.url(),
      open: ({ url, clock, timeoutMs }) => postgresStore({ connectionString: url, schema, clock, timeoutMs }),
    };
  });
});
