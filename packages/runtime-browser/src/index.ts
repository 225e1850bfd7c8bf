export { randomIds } from "./ports/ids.ts";
export { systemClock } from "./ports/clock.ts";
export { indexedDbStore, type IndexedDbStore, type IndexedDbStoreOptions } from "./indexed-db/indexed-db-store.ts";
export type { TabLockManager } from "./indexed-db/tab-lock-manager.ts";
export { StorageError, type StorageProblem } from "@colloquy/host/store";
export * from "@colloquy/host";
export { createHost, type HostOptions } from "./host.ts";
export { memoryStore } from "./memory-store.ts";
