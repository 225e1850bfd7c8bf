import { copyFileSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { beforeEach, expect, test } from "vitest";

import { openSqlite } from "../../../src/stores/sqlite/database.ts";
import { sqliteStore, storeOver } from "../../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "../folder.ts";
import { said, take } from "../journal.ts";

// Searches for words in the raw bytes of all the store's files: the database, its log and its shared memory.

let folder: string;
let path: string;
beforeEach(() => {
  folder = newFolder();
  path = join(folder, "store.db");
});

test("nothing of a deleted thread is in any file: entries, metadata, search index, snapshot, letters, its id", async () => {
  const store = await filled();
  for (const thread of [4, 0, 11]) {
    expect(traces(folder, wordOf(thread)).length).toBeGreaterThan(100);
    expect(await store.delete(idOf(thread))).toBe(true);
    expect(traces(folder, wordOf(thread))).toEqual([]);
  }
  expect((await store.search?.(wordOf(5)))?.hits.length).toBeGreaterThan(10);
  expect(traces(folder, wordOf(5)).length).toBeGreaterThan(100);
  await store.close();
});

test("nothing of what was rewritten is in any file", async () => {
  const store = await filled();
  const lease = await take(store, idOf(3), "owner", 1e9);
  const journal = (await store.read(idOf(3))) as readonly Entry[];
  const rewritten = journal.map((entry): Entry => {
    if (entry.seq === 0)
      return { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "it" }, redacted: true };
    return { seq: entry.seq, event: { type: "checkpoint.named", at: 0, name: "[redacted]" }, redacted: true };
  });
  await store.inbox?.discard(idOf(3), "letter 0");
  await store.rewrite(lease, rewritten.slice(1, 9));
  for (const { seq } of rewritten.slice(1, 9)) expect(traces(folder, `${wordOf(3)}x${seq}x`)).toEqual([]);
  expect(traces(folder, `${wordOf(3)}xchunk`)).toEqual([]);
  expect(traces(folder, `${wordOf(3)}x9x`)).not.toEqual([]);
  await store.rewrite(lease, rewritten);
  // Only its id is left.
  expect(traces(folder, wordOf(3)).filter((behind) => !behind.startsWith("id"))).toEqual([]);
  await store.close();
});

test("what is erased later is gone when the store is closed", async () => {
  const store = await filled({ erasing: "on-close" });
  for (const thread of [0, 4, 7, 11]) await store.delete(idOf(thread));
  // The search index had the words; closing removes them.
  expect(traces(folder, wordOf(4))).not.toEqual([]);
  await store.close();
  for (const thread of [0, 4, 7, 11]) expect(traces(folder, wordOf(thread))).toEqual([]);
});

test("what a process that died had not erased is gone when the file is opened again", async () => {
  const store = await filled({ erasing: "on-close" });
  await store.delete(idOf(4));
  const left = join(folder, "left");
  mkdirSync(left);
  for (const name of ["store.db", "store.db-wal"]) copyFileSync(join(folder, name), join(left, name));
  expect(traces(left, wordOf(4))).not.toEqual([]);
  const later = sqliteStore({ path: join(left, "store.db") });
  await later.list();
  expect(traces(left, wordOf(4))).toEqual([]);
  expect((await later.search?.(wordOf(5)))?.hits.length).toBeGreaterThan(10);
  await later.close();
  await store.close();
});

test("whoever deletes while another process reads is told that bytes are left, and what is done next erases them", async () => {
  const store = await filled({ busyTimeoutMs: 1 });
  const reader = new DatabaseSync(path);
  reader.exec("BEGIN; SELECT count(*) FROM entries");
  await expect(store.delete(idOf(4))).rejects.toMatchObject({
    name: "StorageError",
    kind: "not-erased",
    message: expect.stringMatching(/thread 4.*is deleted, but .* not in use: another process .*They go with the next/),
  });
  expect(await store.read(idOf(4))).toEqual([]);
  expect(traces(folder, wordOf(4))).not.toEqual([]);
  reader.close();
  expect(await store.delete(idOf(4))).toBe(false);
  expect(traces(folder, wordOf(4))).toEqual([]);
  await store.close();
});

test("what could not be erased is, when a lease is released and nobody reads any more; nobody is waited for then", async () => {
  const store = await filled({ busyTimeoutMs: 1 });
  const reader = new DatabaseSync(path);
  reader.exec("BEGIN; SELECT count(*) FROM entries");
  await expect(store.delete(idOf(4))).rejects.toMatchObject({ kind: "not-erased" });
  await store.release({ threadId: "any", owner: "nobody", token: 1 });
  expect(traces(folder, wordOf(4))).not.toEqual([]);
  reader.close();
  await store.release({ threadId: "any", owner: "nobody", token: 1 });
  expect(traces(folder, wordOf(4))).toEqual([]);
  const after = new DatabaseSync(path);
  expect(after.prepare("SELECT unerased FROM last_token").get()).toEqual({ unerased: 0 });
  after.close();
  await store.close();
});

test("a store that has made up for an erasure waits for the locks of other processes as before", async () => {
  const database = openSqlite({ path, busyTimeoutMs: 7, synchronous: "NORMAL" });
  const store = storeOver(database, { path, clock: Date, erasing: "at-once" });
  const lease = await take(store, "thread");
  await store.append(lease, -1, [said(0)]);
  const reader = new DatabaseSync(path);
  reader.exec("BEGIN; SELECT count(*) FROM entries");
  await expect(store.delete("thread")).rejects.toMatchObject({ kind: "not-erased" });
  reader.close();
  await store.release(lease);
  expect(database.prepare("SELECT unerased FROM last_token").get()).toEqual({ unerased: 0 });
  expect(database.prepare("PRAGMA busy_timeout").get()).toEqual({ timeout: 7 });
  await store.close();
});

const threads = 12;

/** Fills a store with threads in alternation, with entries of all sizes, so that pages split and move. */
const filled = async (options: Partial<Parameters<typeof sqliteStore>[0]> = {}): Promise<Store> => {
  const store = sqliteStore({ path, synchronous: "NORMAL", ...options });
  const leases = await Promise.all(
    Array.from({ length: threads }, (_, thread) => take(store, idOf(thread), "owner", 1e9)),
  );
  const lengths = leases.map(() => 0);
  for (const [thread, lease] of leases.entries()) {
    await store.append(lease, -1, [
      {
        seq: 0,
        format: 2,
        event: { type: "thread.started", at: 0, threadId: "it", metadata: { user: wordOf(thread) } },
      },
    ]);
  }
  for (let count = 0, drawn = 1; count < 1500; count += 1) {
    drawn = (drawn * 16_807) % 2_147_483_647;
    const thread = drawn % threads;
    const lease = leases[thread];
    const seq = (lengths[thread] = (lengths[thread] ?? 0) + 1);
    const said = `${wordOf(thread)}x${seq}x ${wordOf(thread)} `.repeat(1 + (drawn % (count % 9 === 0 ? 200 : 12)));
    if (lease !== undefined)
      await store.append(lease, seq - 1, [
        { seq, event: { type: "ask.received", at: seq, askId: `${seq}`, input: said } },
      ]);
    if (count % 400 === 0) await store.search?.("nothing");
  }
  for (const [thread, lease] of leases.entries()) await derive(store, lease, thread);
  return store;
};

/** Writes a snapshot, a second one over it, and inbox items, one of them answered. */
const derive = async (store: Store, lease: Lease, thread: number): Promise<void> => {
  const { threadId } = lease;
  const text = `${wordOf(thread)}xchunk `.repeat(3000);
  await store.saveSnapshot(lease, { threadId, seq: 1, head: text, chunks: new Map([["a", text]]), dropped: [] });
  await store.saveSnapshot(lease, { threadId, seq: 2, head: "", chunks: new Map([["b", text]]), dropped: ["a"] });
  for (const id of ["letter 0", "letter 1"]) {
    const event = { type: "ask.received", at: 0, askId: id, input: `${wordOf(thread)}xletter` } as const;
    await store.inbox?.post(threadId, { id, event });
  }
  await store.inbox?.answer(lease, [{ id: "letter 1", handled: true, seq: 1 }]);
  await store.search?.(wordOf(thread));
};

/** Returns the word that is in everything of this thread and nowhere else. */
const wordOf = (thread: number): string => `secret${String.fromCharCode(97 + thread)}`;

const idOf = (thread: number): string => `thread ${thread} ${wordOf(thread)}xid`;

/** Returns the text after each occurrence of a word in a folder's files, which tells the place. */
const traces = (directory: string, word: string): readonly string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter((file) => file.isFile())
    .flatMap(({ name }) => [
      ...readFileSync(join(directory, name), "latin1").matchAll(new RegExp(`${word}x?(\\w*)`, "g")),
    ])
    .map(([, behind = ""]) => behind.replace(/x.*$/, ""));
