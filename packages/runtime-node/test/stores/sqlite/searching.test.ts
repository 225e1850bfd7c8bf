import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";

import { memoryStore, type SearchHit, type SearchOptions, type Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import * as fc from "fast-check";
import { beforeEach, expect, test } from "vitest";

import { reserveAt } from "../../../src/stores/reserve.ts";
import { connectionOver } from "../../../src/stores/sqlite/connection.ts";
import { openSqlite } from "../../../src/stores/sqlite/database.ts";
import { searchIndex } from "../../../src/stores/sqlite/search-index.ts";
import { sqliteStore, storeOver } from "../../../src/stores/sqlite/sqlite-store.ts";
import { runs } from "../../../../../test/runs.ts";
import { newFolder } from "../folder.ts";
import { take } from "../journal.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = newFolder();
  path = join(folder, "store.db");
});

test("the index takes in long threads and many of them, in more than one batch each", async () => {
  const store = sqliteStore({ path, synchronous: "NORMAL" });
  const long = await take(store, "long");
  await store.append(long, -1, [start, ...Array.from({ length: 1300 }, (_, index) => saying(index + 1, "apple pie"))]);
  for (let count = 0; count < 700; count += 1) {
    const lease = await take(store, `short ${count}`);
    await store.append(lease, -1, [start, saying(1, "apple tart")]);
    if (count % 2 === 0) await store.release(lease);
  }
  expect(await countOf(store, "apple")).toBe(2000);
  await store.append(long, 1300, [saying(1301, "apple pie")]);
  expect(await countOf(store, "pie")).toBe(1301);
  expect(await countOf(store, "apple", { threadId: "long" })).toBe(1301);
  expect(await countOf(store, "tart", { threadId: "short 7" })).toBe(1);
  await store.close();
});

test("the index takes in 512 entries and threads at a time, and no entry without words", async () => {
  const database = openSqlite({ path, busyTimeoutMs: 1, synchronous: "NORMAL" });
  const store = storeOver(database, { path, clock, erasing: "at-once" });
  const counts = async (threadId?: string): Promise<readonly unknown[]> => {
    const after: unknown[] = [];
    const connection = connectionOver(database, path, clock, reserveAt(null, 0));
    await searchIndex(connection).catchUp(threadId, async () => {
      after.push(database.prepare("SELECT count(*) AS count FROM said").get()?.["count"]);
    });
    return after;
  };
  for (let count = 0; count < 300; count += 1) await store.append(await take(store, `${count}`), -1, [saying(0, "a")]);
  expect(await counts()).toEqual([256, 300]);
  const lease = await take(store, "long");
  await store.append(
    lease,
    -1,
    Array.from({ length: 1030 }, (_, index) => saying(index, index === 7 ? "" : "a")),
  );
  expect(await counts("long")).toEqual([811, 1323, 1329]);
  await store.append(lease, 1029, [saying(1030, "a".repeat(999_000)), saying(1031, "a"), saying(1032, "a")]);
  expect(await counts()).toEqual([1332]);
  const full = "a".repeat(1_000_000 - JSON.stringify(saying(1033, "").event).length);
  await store.append(lease, 1032, [saying(1033, full), saying(1034, "a")]);
  expect(await counts()).toEqual([1333, 1334]);
  await store.close();
});

test("the index takes in a few large entries at a time, so that others can write in between", async () => {
  const store = sqliteStore({ path, synchronous: "NORMAL" });
  const lease = await take(store, "thread");
  const large = `apple ${"x ".repeat(150_000)}`;
  await store.append(lease, -1, [start, ...Array.from({ length: 12 }, (_, index) => saying(index + 1, large))]);
  const other = new DatabaseSync(path);
  const searching = countOf(store, "apple");
  // The first batch is indexed when the call returns.
  const taken = Number(other.prepare("SELECT count(*) AS taken FROM said").get()?.["taken"]);
  expect(taken).toBeGreaterThan(0);
  expect(taken).toBeLessThan(6);
  other.close();
  expect(await searching).toBe(12);
  await store.release(lease);
  expect(await countOf(store, "apple")).toBe(12);
  await store.close();
});

test("a file in which nobody searches has no index, and one made by another process is kept up by all", async () => {
  const store = sqliteStore({ path, synchronous: "NORMAL" });
  const lease = await take(store, "thread");
  await store.append(lease, -1, [start, saying(1, "apple"), saying(2, "apple")]);
  await store.rewrite(lease, [saying(1, "pear")]);
  expect(tablesOf(path)).not.toContain("said");
  const other = sqliteStore({ path, synchronous: "NORMAL" });
  expect(await countOf(other, "apple")).toBe(1);
  expect(tablesOf(path)).toContain("said");
  await store.rewrite(lease, [saying(2, "plum")]);
  expect(await countOf(other, "apple")).toBe(0);
  expect(await countOf(other, "plum")).toBe(1);
  await store.delete("thread");
  expect(await countOf(other, "plum")).toBe(0);
  await Promise.all([store.close(), other.close()]);
});

test("finds and lists what a store that reads everything finds and lists, whatever is done in between", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 30 }), async (actions) => {
      const stores = [sqliteStore({ path: ":memory:" }), memoryStore({ clock })];
      for (const each of actions) {
        const [found, expected] = await Promise.all(stores.map((store) => perform(store, each)));
        expect(found).toEqual(expected);
      }
      await stores[0]?.close();
    }),
    { numRuns: runs(150) },
  );
});

const clock = { now: () => Date.now(), wakeAt: () => () => {} };

type Action =
  | { readonly type: "say" | "rewrite"; readonly thread: number; readonly seq: number; readonly text: string }
  | { readonly type: "delete"; readonly thread: number }
  | { readonly type: "search"; readonly text: string; readonly limit: number; readonly thread: number | undefined }
  | { readonly type: "list"; readonly limit: number; readonly from: number };

const words = fc
  .array(fc.constantFrom("apple", "Äpfel", "pear", "東京", "e\u0301a", "🙂", "plum,", "\ud800", "x".repeat(80)), {
    maxLength: 4,
  })
  .map((all) => all.join(" "));

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("say"), thread: fc.nat(3), seq: fc.nat(9), text: words }) },
  fc.record({ type: fc.constant("rewrite"), thread: fc.nat(3), seq: fc.nat(4), text: words }),
  fc.record({ type: fc.constant("delete"), thread: fc.nat(3) }),
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("search"),
      text: words,
      limit: fc.integer({ min: 1, max: 4 }),
      thread: fc.option(fc.nat(3), { nil: undefined }),
    }),
  },
  fc.record({ type: fc.constant("list"), limit: fc.integer({ min: 1, max: 3 }), from: fc.nat(9) }),
);

/** Performs an action. Returns the part of its outcome on which all stores must agree. */
const perform = async (store: Store, each: Action): Promise<unknown> => {
  if (each.type === "search") {
    const { text, limit, thread } = each;
    const hits = await hitsOf(store, text, { limit, ...(thread !== undefined && { threadId: `thread ${thread}` }) });
    return hits.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1));
  }
  if (each.type === "list") {
    const { limit, from } = each;
    const first = await store.list({ limit, created: { from } });
    return [first, first.next === null ? null : await store.list({ limit, created: { from }, after: first.next })];
  }
  const threadId = `thread ${each.thread}`;
  if (each.type === "delete") return store.delete(threadId);
  const lease = await take(store, threadId);
  const length = (await store.read(threadId)).length;
  if (each.type === "rewrite") {
    const rewriting = store.rewrite(lease, [saying(each.seq, each.text)]);
    return each.seq > 0 && each.seq < length ? rewriting : rewriting.catch(() => "refused");
  }
  if (length === 0) await store.append(lease, -1, [startAt(each.seq)]);
  await store.append(lease, Math.max(length, 1) - 1, [saying(Math.max(length, 1), each.text)]);
  return store.read(threadId);
};

const hitsOf = async (store: Store, text: string, options: SearchOptions): Promise<SearchHit[]> => {
  const hits: SearchHit[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await store.search?.(text, { ...options, ...(after !== undefined && { after }) });
    hits.push(...(page?.hits ?? []));
    after = page?.next ?? null;
  }
  return hits;
};

const countOf = async (store: Store, text: string, options: SearchOptions = {}): Promise<number> =>
  (await hitsOf(store, text, { limit: 5000, ...options })).length;

const startAt = (at: number): Entry => ({ seq: 0, format: 2, event: { type: "thread.started", at, threadId: "it" } });

const start = startAt(0);

const saying = (seq: number, input: string): Entry => ({
  seq,
  event: { type: "ask.received", at: seq, askId: `${seq}`, input },
});

const tablesOf = (file: string): readonly unknown[] => {
  const database = new DatabaseSync(file);
  const tables = database.prepare("SELECT name FROM sqlite_schema").all();
  database.close();
  return tables.map(({ name }) => name);
};
