import "fake-indexeddb/auto";

import { expect, test, vi } from "vitest";

import { indexedDbStore, type IndexedDbStore } from "../src/index.ts";
import { entriesOf, entry } from "./entries.ts";

let databases = 0;

const nextName = (): string => `database-${(databases += 1)}`;

const ttlMs = 60_000;

/** Makes a store with a thread of two entries. */
const begun = async (name: string): Promise<IndexedDbStore> => {
  const store = indexedDbStore({ name });
  const lease = await store.acquire("t", "one", ttlMs);
  if (lease === null) throw new Error("the thread is free");
  await store.append(lease, -1, entriesOf(2));
  return store;
};

const opened = (name: string, version?: number): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(name, version);
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(new Error(request.error?.message)));
    request.addEventListener("blocked", () => reject(new Error("blocked")));
  });

const deleted = (name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.addEventListener("success", () => resolve());
    request.addEventListener("blocked", () => reject(new Error("blocked")));
  });

test("a later version of the page gets the database at once, and the tab of the older one gets an error to reload", async () => {
  const name = nextName();
  const store = await begun(name);
  (await opened(name, 2)).close();
  await expect(store.read("t")).rejects.toThrow(/later version of this page wrote the database; load the page again/);
  await expect(store.read("t")).rejects.toMatchObject({ name: "StorageError", kind: "newer" });
});

test("data that the user deletes is gone; its leases are void, and the tab continues with an empty database", async () => {
  const name = nextName();
  const store = indexedDbStore({ name });
  const lease = await store.acquire("t", "one", ttlMs);
  if (lease === null) throw new Error("the thread is free");
  await store.append(lease, -1, entriesOf(2));
  await deleted(name);
  expect(await store.read("t")).toEqual([]);
  const other = indexedDbStore({ name });
  expect(await other.acquire("t", "two", ttlMs)).toMatchObject({ token: lease.token });
  await expect(store.append(lease, 1, [entry(2)])).rejects.toThrow(/lease of "one" \(token 1\) is no longer in force/);
});

test("a foreign database is refused, and left unchanged", async () => {
  const name = nextName();
  (await opened(name, 1)).close();
  await expect(indexedDbStore({ name }).list()).rejects.toMatchObject({ name: "StorageError", kind: "not-a-store" });
});

test("a closed store says so", async () => {
  const store = await begun(nextName());
  await store.close();
  await expect(store.read("t")).rejects.toMatchObject({ name: "StorageError", kind: "closed" });
});

test("a transaction that the browser aborts for want of room is `full`, and nothing of it is written", async () => {
  const name = nextName();
  const store = await begun(name);
  const lease = await store.acquire("t", "one", ttlMs);
  if (lease === null) throw new Error("the thread is its owner's");
  const put = vi.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function () {
    throw new DOMException("no room", "QuotaExceededError");
  });
  const appended = store.append(lease, 1, [entry(2)]);
  await expect(appended).rejects.toMatchObject({ name: "StorageError", kind: "full" });
  put.mockRestore();
  expect(await store.read("t")).toHaveLength(2);
  await store.append(lease, 1, [entry(2)]);
  expect(await store.read("t")).toHaveLength(3);
});

test("without IndexedDB an error names a remedy", async () => {
  vi.stubGlobal("indexedDB", undefined);
  try {
    await expect(indexedDbStore().read("t")).rejects.toThrow(/there is no IndexedDB here; use another store/);
  } finally {
    vi.unstubAllGlobals();
  }
});

test("options that are invalid are refused by name", () => {
  // A caller in JavaScript may pass anything.
  expect(() => indexedDbStore({ nmae: "x" } as object)).toThrow(/nmae/);
  expect(() => indexedDbStore({ name: "" })).toThrow(/name must be a text that is not empty/);
  expect(() => indexedDbStore({ locks: {} as never })).toThrow(
    /locks must be navigator.locks, null, .* \(got an object\)/,
  );
});

test("after a delete no table has the thread's words", async () => {
  const name = nextName();
  const store = indexedDbStore({ name });
  const lease = await store.acquire("secret", "one", ttlMs);
  if (lease === null) throw new Error("the thread is free");
  await store.append(lease, -1, entriesOf(2));
  await store.saveSnapshot(lease, {
    threadId: "secret",
    seq: 1,
    head: "h",
    chunks: new Map([["c", "text"]]),
    dropped: [],
  });
  await store.parts.append(lease, { number: 0, turn: 1, body: "b", at: 0, until: Number.MAX_SAFE_INTEGER });
  await store.inbox.post("secret", { id: "i", event: { type: "queue.cleared", at: 0 } as never });
  expect(await store.delete("secret")).toBe(true);
  const database = await opened(name);
  const tables = [...database.objectStoreNames].filter((table) => table !== "counters");
  const reading = database.transaction(tables);
  const counts = await Promise.all(
    tables.map(
      (table) =>
        new Promise<number>((resolve) => {
          const request = reading.objectStore(table).count();
          request.addEventListener("success", () => resolve(request.result));
        }),
    ),
  );
  database.close();
  expect(tables).toHaveLength(7);
  expect(counts).toEqual(tables.map(() => 0));
});
