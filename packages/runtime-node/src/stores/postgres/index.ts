export type { PostgresClient, PostgresPool } from "./pool.ts";
export { postgresStore, type PostgresStore, type PostgresStoreOptions, type PostgresStoreSettings } from "./store.ts";
