import "fake-indexeddb/auto";

import { expect, test, vi } from "vitest";

import { indexedDbStore, type IndexedDbStore } from "../src/index.ts";
import { entriesOf } from "./entries.ts";

/** Counts the requests of all kinds to the database. */
const requestsDuring = async (work: () => Promise<unknown>): Promise<number> => {
  const spies = [
    vi.spyOn(IDBDatabase.prototype, "transaction"),
    vi.spyOn(IDBCursor.prototype, "continue"),
    vi.spyOn(IDBIndex.prototype, "getAllKeys"),
    ...(["get", "getAll", "getAllKeys", "put", "delete", "openCursor"] as const).map((name) =>
      vi.spyOn(IDBObjectStore.prototype, name),
    ),
  ];
  await work();
  const requests = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
  for (const spy of spies) spy.mockRestore();
  return requests;
};

const ttlMs = 600_000;

test("a batch of parts makes as many requests after many parts as after one, and one more for each that ends", async () => {
  const store = indexedDbStore({ name: "parts" });
  const lease = await store.acquire("t", "one", ttlMs);
  if (lease === null) throw new Error("the thread is free");
  const append = (number: number, at: number): Promise<number> =>
    requestsDuring(() => store.parts.append(lease, { number, turn: 1, body: "shown", at, until: 1_000 + number }));
  await append(0, 0);
  const first = await append(1, 0);
  for (let number = 2; number < 200; number += 1) await append(number, 0);
  expect(await append(200, 0)).toBe(first);
  expect(await append(201, 1_010)).toBe(first + 11);
  expect(await store.parts.read("t", { at: 0, after: null })).toHaveLength(191);
});

test("a search makes as many requests for many threads as for one", async () => {
  const asked = async (threads: number): Promise<number> => {
    const store: IndexedDbStore = indexedDbStore({ name: `search-${threads}` });
    for (let thread = 0; thread < threads; thread += 1) {
      const lease = await store.acquire(`t${thread}`, "one", ttlMs);
      if (lease !== null) await store.append(lease, -1, entriesOf(3));
    }
    return requestsDuring(() => store.search("entry"));
  };
  expect(await asked(20)).toBe(await asked(1));
});
