export type { PostgresClient, PostgresPool } from "./connection.ts";
export { postgresStore, type PostgresStore, type PostgresStoreOptions, type PostgresStoreSettings } from "./store.ts";
