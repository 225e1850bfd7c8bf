import { join } from "node:path";

import { type Clock, memoryStore, type Store } from "@colloquy/host";
import { filesStore, sqliteStore } from "@colloquy/runtime-node";
import { postgresStore } from "@colloquy/runtime-node/postgres";
import { redisStore } from "@colloquy/runtime-node/redis";

import { newFolder, removeFolder } from "../kit/folder.ts";
import { type ServerName, serverUrl } from "../kit/server-urls.ts";

/** A place to hold conversations in. */
export interface Place {
  /** Opens it: a new one each time, with nothing in it. Its time is the clock's. */
  readonly open: (clock: Clock) => Promise<Store>;
  /** Removes all that was left there. */
  readonly leave: () => Promise<void>;
}

/** The stores that there are, by name; null where the server is not there that the store needs. */
export const places: Readonly<Record<StoreName, () => Place | null>> = {
  memory: () => ({ open: async (clock) => memoryStore({ clock }), leave: async () => undefined }),
  sqlite: () =>
    inFolders((folder, clock) => sqliteStore({ path: join(folder, "conversations.db"), clock, synchronous: "NORMAL" })),
  files: () =>
    inFolders((folder, clock) => filesStore({ folder: join(folder, "threads"), clock, synchronous: "NORMAL" })),
  postgres: () => atServer("postgres", inSchema),
  redis: () => atServer("redis", underPrefix),
};

export const storeNames = ["memory", "sqlite", "files", "postgres", "redis"] as const;

export type StoreName = (typeof storeNames)[number];

const inFolders = (open: (folder: string, clock: Clock) => Store): Place => {
  const folders: string[] = [];
  return {
    open: async (clock) => {
      const folder = newFolder("crash-points");
      folders.push(folder);
      return open(folder, clock);
    },
    leave: async () => folders.splice(0).forEach(removeFolder),
  };
};

const atServer = (name: ServerName, place: (url: string) => Place): Place | null => {
  const url = serverUrl(name);
  return url === null ? null : place(url);
};

/** One schema for all; each conversation finds it empty. */
const inSchema = (url: string): Place =>
  emptied((clock) => postgresStore({ connectionString: url, schema: `crash_points_${process.pid}`, clock }));

const underPrefix = (url: string): Place =>
  emptied((clock) => redisStore({ url, prefix: `crash-points-${process.pid}`, clock }));

/** A store whose threads are removed before each use, and at the end. */
const emptied = (open: (clock: Clock) => Store): Place => ({
  open: async (clock) => {
    const store = open(clock);
    await empty(store);
    return store;
  },
  leave: async () => {
    const store = open({ now: () => Date.now(), wakeAt: () => () => undefined });
    await empty(store);
    await store.close();
  },
});

const empty = async (store: Store): Promise<void> => {
  const { threads } = await store.list();
  for (const { threadId } of threads) await store.delete(threadId);
};
