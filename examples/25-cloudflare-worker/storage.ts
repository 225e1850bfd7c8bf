import type { Entry } from "@colloquy/machine";
import { memoryStore, type Store } from "@colloquy/runtime-browser";

/** As much of the storage of a Durable Object as is used here. */
export interface ObjectStorage {
  put(entries: Readonly<Record<string, string>>): Promise<void>;
  list(options: { readonly prefix: string }): Promise<ReadonlyMap<string, string>>;
  deleteAll(): Promise<void>;
}

/**
 * A store for the one thread of a Durable Object. The object is alone with its storage, so leases, inbox and snapshots may
 * live in memory, and die with it; the journal is in the storage, and read when the object begins.
 */
export const storageStore = async (threadId: string, storage: ObjectStorage): Promise<Store> => {
  const memory = memoryStore();
  const texts = [...(await storage.list({ prefix: "entry:" })).values()];
  const lease = await memory.acquire(threadId, "storage", 60_000);
  // Only what stands below has written them.
  if (lease !== null)
    await memory.append(
      lease,
      -1,
      texts.map((text) => JSON.parse(text) as Entry),
    );
  if (lease !== null) await memory.release(lease);
  const put = async (entries: readonly Entry[]): Promise<void> => {
    // One call takes 128 keys; those that are made without a wait between them are written all or none.
    const pages = Array.from({ length: Math.ceil(entries.length / 128) }, (_, page) =>
      entries.slice(page * 128, page * 128 + 128),
    );
    await Promise.all(
      pages.map((page) => storage.put(Object.fromEntries(page.map((entry) => [keyOf(entry), JSON.stringify(entry)])))),
    );
  };
  const append = memory.append.bind(memory);
  const rewrite = memory.rewrite.bind(memory);
  const remove = memory.delete.bind(memory);
  return Object.assign(memory, {
    append: async (...given: Parameters<Store["append"]>) => {
      await append(...given);
      await put(given[2]);
    },
    rewrite: async (...given: Parameters<Store["rewrite"]>) => {
      await rewrite(...given);
      await put(given[1]);
    },
    delete: async (id: string) => {
      await storage.deleteAll();
      return remove(id);
    },
  });
};

const keyOf = ({ seq }: Entry): string => `entry:${String(seq).padStart(12, "0")}`;
