import { chmodSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Lease, InboxItem, SnapshotDraft } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { beforeEach, expect, test } from "vitest";

import { openSqlite } from "../../../src/stores/sqlite/database.ts";
import { sqliteStore, storeOver } from "../../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "../folder.ts";
import { take } from "../journal.ts";

// A store need not be reopened after any of these faults: refused calls work as soon as the cause is gone.

let folder: string;
let path: string;
beforeEach(() => {
  folder = newFolder();
  path = join(folder, "store.db");
});

/** All writing calls, by name. During a fault each is refused and changes nothing; afterwards it works. */
const writes: Readonly<Record<string, (store: Store, lease: Lease) => unknown>> = {
  acquire: (store) => store.acquire("x".repeat(100_000), "owner", 1000),
  append: (store, lease) => store.append(lease, 2, [entry(3)]),
  "append of many": (store, lease) => store.append(lease, 2, [entry(3), entry(4)]),
  rewrite: (store, lease) => store.rewrite(lease, [entry(1, `${large} and more`.repeat(2))]),
  saveSnapshot: (store, lease) => store.saveSnapshot(lease, snapshot(large)),
  "a letter": (store) => store.inbox?.post("thread", letter("b", large)),
  "a first search": (store) => store.search?.("words"),
};

test.each(Object.entries(writes))(
  "a full disk refuses %s in words, and takes it when there is room",
  async (_, write) => {
    const database = openSqlite({ path, busyTimeoutMs: 1, synchronous: "NORMAL" });
    const store = storeOver(database, { path, clock: Date, erasing: "at-once" });
    const lease = await begun(store);
    const before = await contentsOf(store);
    // Stands in for a full disk: SQLite may not add pages.
    database.exec(`PRAGMA max_page_count = 1`);
    await expect(async () => write(store, lease)).rejects.toMatchObject({
      name: "StorageError",
      kind: "full",
      message: expect.stringMatching(/store\.db": the disk is full; make room/),
    });
    expect(await contentsOf(store)).toEqual(before);
    database.exec("PRAGMA max_page_count = 1000000");
    await write(store, lease);
    expect(database.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    await store.close();
  },
);

const smallWrites: typeof writes = {
  renew: (store, lease) => store.renew(lease, 1000),
  release: (store, lease) => store.release(lease),
  delete: (store) => store.delete("thread"),
};

test.each(Object.entries({ ...writes, ...smallWrites }))(
  "a file that somebody else has locked refuses %s in words, and takes it when it is free",
  async (_, write) => {
    const store = sqliteStore({ path, busyTimeoutMs: 1 });
    const lease = await begun(store);
    const before = await contentsOf(store);
    const other = new DatabaseSync(path);
    other.exec("BEGIN IMMEDIATE");
    await expect(async () => write(store, lease)).rejects.toMatchObject({
      name: "StorageError",
      kind: "locked",
      message: expect.stringMatching(/store\.db": another process kept it locked for longer than busyTimeoutMs/),
    });
    // A reader needs no lock.
    expect(await contentsOf(store)).toEqual(before);
    other.close();
    await write(store, lease);
    await store.close();
  },
);

test.each([
  ["FULL", { synchronous: 2, fullfsync: 1, autocheckpoint: 64 }],
  ["NORMAL", { synchronous: 1, fullfsync: 0, autocheckpoint: 1000 }],
] as const)("with %s SQLite flushes what the page says", (synchronous, told) => {
  const database = openSqlite({ path, busyTimeoutMs: 1, synchronous });
  const pragma = (name: string): unknown => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  expect({
    synchronous: pragma("synchronous"),
    fullfsync: pragma("fullfsync"),
    autocheckpoint: pragma("wal_autocheckpoint"),
  }).toEqual(told);
  // With either, the log is flushed before it is copied into the file, and the file before the log restarts.
  expect(pragma("journal_mode")).toBe("wal");
  database.close();
});

test("a file that may only be read is refused, and taken when it may be written", async () => {
  await (await began()).close();
  // Root may write any file, so it must open the file read-only.
  const isRoot = process.getuid?.() === 0;
  if (!isRoot) chmodSync(path, 0o444);
  const store = sqliteStore({ path: isRoot ? `file:${path}?mode=ro` : path });
  await expect(store.read("thread")).rejects.toMatchObject({
    kind: "read-only",
    message: expect.stringMatching(/give this process the right to write/),
  });
  await store.close();
  chmodSync(path, 0o644);
  const later = sqliteStore({ path });
  expect(await later.read("thread")).toHaveLength(3);
  await later.close();
});

test("damaged rows of a snapshot are given as they are, for its reader to judge, and cost nobody else anything", async () => {
  const store = await began();
  const other = new DatabaseSync(path);
  other.exec("UPDATE snapshots SET body = '{' WHERE part = 'head'; DELETE FROM snapshots WHERE part = 'chunk a'");
  other.close();
  const found = await store.readSnapshot("thread");
  expect(found?.head).toBe("{");
  expect(found?.chunk("a")).toBeUndefined();
  expect(await store.read("thread")).toHaveLength(3);
  const lease = await take(store);
  await store.saveSnapshot(lease, snapshot("whole"));
  expect((await store.readSnapshot("thread"))?.chunk("a")).toBe("whole");
  await store.close();
});

test("a damaged entry is passed over by search and listing, and told to whoever reads its thread", async () => {
  const store = await began();
  const other = new DatabaseSync(path);
  other.exec(`UPDATE entries SET body = '{"type":' WHERE place % 67108864 IN (0, 2)`);
  other.close();
  expect((await store.search?.("words"))?.hits).toMatchObject([{ threadId: "thread", seq: 1 }]);
  expect((await store.list()).threads).toMatchObject([{ threadId: "thread", seq: 2, createdAt: 0, updatedAt: 0 }]);
  await expect(store.read("thread")).rejects.toMatchObject({ kind: "corrupt" });
  await store.close();
});

const began = async (): Promise<Store> => {
  const store = sqliteStore({ path });
  await store.release(await begun(store));
  return store;
};

/** Makes a thread of three entries with a snapshot and an inbox item. */
const begun = async (store: Store): Promise<Lease> => {
  const lease = await take(store);
  await store.append(lease, -1, [
    { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId: "thread" } },
    entry(1),
    entry(2),
  ]);
  await store.saveSnapshot(lease, snapshot("small"));
  await store.inbox?.post("thread", letter("a", "small"));
  return lease;
};

const contentsOf = async (store: Store): Promise<unknown> => [
  await store.read("thread"),
  await store.list(),
  (await store.readSnapshot("thread"))?.chunk("a"),
  await store.inbox?.unanswered("thread"),
];

const large = "some words ".repeat(20_000);

const entry = (seq: number, input = large): Entry => ({
  seq,
  event: { type: "ask.received", at: seq, askId: `${seq}`, input },
});

const snapshot = (text: string): SnapshotDraft => ({
  threadId: "thread",
  seq: 2,
  head: "head",
  chunks: new Map([["a", text]]),
  dropped: [],
});

const letter = (id: string, input: string): InboxItem => ({
  id,
  event: { type: "ask.received", at: 0, askId: id, input },
});
