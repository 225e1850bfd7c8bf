import { join } from "node:path";

import type { Clock, Store } from "@colloquy/host";
import { filesStore, sqliteStore } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { redisStore } from "@colloquy/runtime-node/redis";

import { newFolder, removeFolder } from "./folder.ts";
import { neededServerUrl, type ServerName } from "./server-urls.ts";

/** The place of a store's threads, and of nothing else. It is plain data, so that a child can get it. */
export type StorePlace = FolderPlace | ServerPlace;

export interface FolderPlace {
  readonly type: "sqlite" | "files";
  readonly folder: string;
}

export interface ServerPlace {
  readonly type: ServerName;
  readonly url: string;
  /** The schema of PostgreSQL, or the beginning of the keys of Redis. */
  readonly space: string;
}

let placesMade = 0;

/** Makes a place. @throws if it needs a server and none is named */
export const newPlace = (type: StorePlace["type"], name: string): StorePlace =>
  type === "sqlite" || type === "files"
    ? { type, folder: newFolder(name) }
    : serverPlace(type, neededServerUrl(type), name);

export const serverPlace = (type: ServerName, url: string, name: string): ServerPlace => ({
  type,
  url,
  space: `${name.replaceAll("-", "_")}_${process.pid}_${(placesMade += 1)}`,
});

export const databaseIn = ({ folder }: FolderPlace): string => join(folder, "store.db");

export const threadsIn = ({ folder }: FolderPlace): string => join(folder, "threads");

interface StoreOptions {
  readonly clock?: Clock;
  /** For stores in folders. Default: `NORMAL`. */
  readonly synchronous?: "NORMAL" | "FULL";
  /** For stores on servers. */
  readonly timeoutMs?: number;
}

export const openStore = (
  place: StorePlace,
  { clock, synchronous = "NORMAL", timeoutMs }: StoreOptions = {},
): Store => {
  const options = { ...(clock && { clock }), ...(timeoutMs !== undefined && { timeoutMs }) };
  switch (place.type) {
    case "sqlite":
      return sqliteStore({ path: databaseIn(place), synchronous, ...options });
    case "files":
      return filesStore({ folder: threadsIn(place), synchronous, ...options });
    case "postgres":
      return postgresStore({ connectionString: place.url, schema: place.space, ...options });
    case "redis":
      return redisStore({ url: place.url, prefix: `${place.space}:`, ...options });
  }
};

export const leavePlace = async (place: StorePlace): Promise<void> => {
  if ("folder" in place) return removeFolder(place.folder);
  const store = openStore(place);
  await deleteThreads(store);
  await store.close();
};

export const deleteThreads = async (store: Store): Promise<void> => {
  const { threads } = await store.list({ limit: 100 });
  for (const { threadId } of threads) await store.delete(threadId);
};
