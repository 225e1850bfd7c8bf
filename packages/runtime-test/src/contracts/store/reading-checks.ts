import { LeaseLostError, type Store } from "@colloquy/host";
import * as fc from "fast-check";
import { expect } from "vitest";

import { append, entriesFrom, entryOf, take, write } from "./sample-entries.ts";
import type { StoreCheck } from "./subject.ts";

/** What a reader finds: entries, threads, and nothing of what was deleted. */
export const readingChecks: readonly StoreCheck[] = [
  {
    name: "reads from a seq on, in order",
    check: async ({ store }) => {
      await write(store, "thread", 12);
      expect(await store.read("thread", 0)).toEqual(entriesFrom(0, 11));
      expect(await store.read("thread", 9)).toEqual(entriesFrom(9, 11));
      expect(await store.read("thread", 11)).toEqual([entryOf(11)]);
      expect(await store.read("thread", 12)).toEqual([]);
    },
  },
  {
    name: "finds nothing in a thread that is not there",
    check: async ({ store }) => {
      expect(await store.read("thread")).toEqual([]);
      expect(await store.read("thread", 3)).toEqual([]);
      expect(await store.delete("thread")).toBe(false);
      expect(await store.list()).toEqual([]);
    },
  },
  {
    name: "lists threads by id, each with its newest seq, in pages",
    check: async ({ store }) => {
      for (const [index, threadId] of ["b", "a", "ab", "B", "10", "9"].entries()) {
        await write(store, threadId, index + 1);
      }
      const all = ["10:4", "9:5", "B:3", "a:1", "ab:2", "b:0"];
      const page = async (options?: Parameters<Store["list"]>[0]): Promise<readonly string[]> =>
        (await store.list(options)).map(({ threadId, seq }) => `${threadId}:${seq}`);
      expect(await page()).toEqual(all);
      expect(await page({ limit: 2 })).toEqual(all.slice(0, 2));
      expect(await page({ after: "9" })).toEqual(all.slice(2));
      expect(await page({ after: "9", limit: 3 })).toEqual(all.slice(2, 5));
      // The end of a page need not be there any more.
      expect(await page({ after: "aa" })).toEqual(all.slice(4));
      expect(await page({ after: "b" })).toEqual([]);
      expect(await page({ limit: 0 })).toEqual([]);
    },
  },
  {
    name: "shows each thread once to whoever goes through the pages",
    check: async ({ fresh }) => {
      const ids = fc.uniqueArray(fc.string({ unit: "grapheme", minLength: 1, maxLength: 4 }), { maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(ids, fc.integer({ min: 1, max: 5 }), async (threadIds, limit) => {
          const { store } = await fresh();
          for (const threadId of threadIds) await write(store, threadId, 1);
          const seen: string[] = [];
          for (;;) {
            const after = seen.at(-1);
            const page = await store.list({ limit, ...(after !== undefined && { after }) });
            if (page.length === 0) break;
            seen.push(...page.map(({ threadId }) => threadId));
            if (seen.length > threadIds.length) break;
          }
          expect(seen).toEqual((await store.list()).map(({ threadId }) => threadId));
          expect(new Set(seen)).toEqual(new Set(threadIds));
          expect(seen.length).toBe(threadIds.length);
          await store.close();
        }),
        { numRuns: 30 },
      );
    },
  },
  {
    name: "deletes a thread, and no other",
    check: async ({ store, reopen }) => {
      const others = ["a", "abc", "a%", "a_", "A"];
      for (const threadId of ["ab", ...others]) await write(store, threadId, 3);
      expect(await store.delete("ab")).toBe(true);
      expect(await store.delete("ab")).toBe(false);
      const later = await reopen();
      expect(await later.read("ab")).toEqual([]);
      expect(await later.read("ab", 2)).toEqual([]);
      expect((await later.list()).map(({ threadId }) => threadId)).toEqual([...others].sort());
      for (const threadId of others) expect(await later.read(threadId)).toEqual(entriesFrom(0, 2));
    },
  },
  {
    name: "lets no holder of an old lease bring back a deleted thread",
    check: async ({ store }) => {
      const old = await take(store, "thread", "first");
      await append(store, old, -1, entriesFrom(0, 2));
      await store.delete("thread");
      await expect(append(store, old, 2, [entryOf(3)])).rejects.toBeInstanceOf(LeaseLostError);
      await expect(append(store, old, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
      expect(await store.renew(old, 1000)).toBe(false);
      const lease = await take(store, "thread", "second");
      await expect(append(store, old, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
      await append(store, lease, -1, [entryOf(0, { again: true })]);
      expect(await store.read("thread")).toEqual([entryOf(0, { again: true })]);
    },
  },
  {
    name: "keeps journals when it is closed, and may be closed twice",
    check: async ({ store, reopen }) => {
      await write(store, "thread", 3);
      const later = await reopen();
      expect(await later.read("thread")).toEqual(entriesFrom(0, 2));
      await later.close();
      await later.close();
    },
  },
];
