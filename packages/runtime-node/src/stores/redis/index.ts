export type { RedisClient } from "./connection.ts";
export { redisStore, type RedisStore, type RedisStoreOptions, type RedisStoreSettings } from "./store.ts";
