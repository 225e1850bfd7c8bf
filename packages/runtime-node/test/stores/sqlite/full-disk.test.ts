import { globSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Store } from "@colloquy/host";
import type { Lease } from "@colloquy/host/store";
import { beforeEach, expect, test } from "vitest";

import { reserveAt } from "../../../src/stores/reserve.ts";
import { StorageError } from "@colloquy/host/store";
import { openSqlite } from "../../../src/stores/sqlite/database.ts";
import { sqliteStore, storeOver } from "../../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "../folder.ts";
import { said, take } from "../journal.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

test("a thread is deleted although the disk is too full to erase it, and it is erased when there is room", async () => {
  const path = join(folder, "threads.db");
  const database = openSqlite({ path, busyTimeoutMs: 1, synchronous: "NORMAL" });
  const store = storeOver(database, { path, clock: Date, erasing: "at-once" });
  await store.release(await begin(store, "kept", 100));
  const lease = await begin(store, "gone", 20_000);
  expect((await store.search("words")).hits).toHaveLength(2);
  // Stands in for a full disk: SQLite may not add pages, and to delete entries takes some.
  database.exec(`CREATE TABLE filler (bytes); PRAGMA max_page_count = 1;
    CREATE TRIGGER full BEFORE DELETE ON entries BEGIN INSERT INTO filler VALUES (zeroblob(100000)); END`);
  await expect(store.delete("gone", lease)).rejects.toMatchObject({ kind: "not-erased" });
  expect((await store.list()).threads).toMatchObject([{ threadId: "kept" }]);
  expect([await store.read("gone"), await store.readSnapshot("gone")]).toEqual([[], null]);
  expect((await store.search("words")).hits).toMatchObject([{ threadId: "kept" }]);
  expect(await store.renew(lease, 1000)).toBe(false);
  const count = (table: string): unknown => database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.["count"];
  expect([count("entries"), count("snapshots")]).toEqual([4, 4]);
  database.exec("PRAGMA max_page_count = 1000000; DROP TRIGGER full");
  expect(await store.delete("gone")).toBe(false);
  expect([count("entries"), count("snapshots")]).toEqual([2, 2]);
  await store.close();
});

test("a thread that is too large to be erased at once is erased in small steps", async () => {
  const path = join(folder, "threads.db");
  const database = openSqlite({ path, busyTimeoutMs: 1, synchronous: "NORMAL" });
  const store = storeOver(database, { path, clock: Date, erasing: "at-once" });
  const lease = await begin(store, "gone", 20_000);
  // Stands in for a disk without room for a whole thread: only a thread that is left has small steps.
  database.exec(`CREATE TABLE filler (bytes); PRAGMA max_page_count = 1;
    CREATE TRIGGER full BEFORE DELETE ON entries WHEN (SELECT unerased FROM last_token) < 4294967296
    BEGIN INSERT INTO filler VALUES (zeroblob(100000)); END`);
  expect(await store.delete("gone", lease)).toBe(true);
  const count = (table: string): unknown => database.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.["count"];
  expect([count("threads"), count("entries"), count("snapshots")]).toEqual([0, 0, 0]);
  await store.close();
});

test("a store whose disk had no room to reserve gets its reserve when a deleted thread makes room", async () => {
  const path = join(folder, "threads.db");
  const store = sqliteStore({ path });
  const lease = await begin(store, "gone", 100);
  rmSync(`${path}-reserve`);
  await store.delete("gone", lease);
  expect(statSync(`${path}-reserve`).size).toBeGreaterThan(0);
  await store.close();
});

test("a thread stays whole, and its lease in force, if its deletion fails", async () => {
  const path = join(folder, "threads.db");
  const database = openSqlite({ path, busyTimeoutMs: 1, synchronous: "NORMAL" });
  const store = storeOver(database, { path, clock: Date, erasing: "at-once" });
  const lease = await begin(store, "thread", 100);
  database.exec("CREATE TRIGGER broken BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'no luck'); END");
  await expect(store.delete("thread", lease)).rejects.toMatchObject({ kind: "failed" });
  expect(await store.read("thread")).toHaveLength(2);
  expect((await store.readSnapshot("thread"))?.head).toBe(words);
  expect(await store.renew(lease, 60_000)).toBe(true);
  database.exec("DROP TRIGGER broken");
  await store.close();
});

test("a rewrite on a full disk changes nothing, and says what it needs", async () => {
  const path = join(folder, "threads.db");
  const database = openSqlite({ path, busyTimeoutMs: 1, synchronous: "NORMAL" });
  const store = storeOver(database, { path, clock: Date, erasing: "at-once" });
  const lease = await begin(store, "thread", 100);
  database.exec("PRAGMA max_page_count = 1");
  await expect(store.rewrite(lease, [said(1, words.repeat(100_000))])).rejects.toMatchObject({
    kind: "full",
    message: `SQLite store "${path}": the disk is full; make room and try again. Nothing of thread "thread" was rewritten; that needs room on the disk: several times as much as the entries and the snapshot have.`,
  });
  expect(await store.read("thread")).toEqual([said(0), said(1, words.repeat(100))]);
  expect((await store.readSnapshot("thread"))?.head).toBe(words);
  await expect(store.rewrite(lease, [said(7)])).rejects.toThrow(/^(?!.*Nothing of thread)/);
  await store.close();
});

const full = new StorageError("full", "there is no room");

test("the room that is reserved is released for an operation on a full disk, and reserved again", () => {
  const path = join(folder, "reserve");
  const reserve = reserveAt(path, 200_000);
  reserve.keep();
  const bytes = statSync(path).size;
  expect(bytes).toBeGreaterThanOrEqual(200_000);
  expect(bytes).toBeLessThan(300_000);
  const there: boolean[] = [];
  const operation = (fails: readonly Error[]) => (): string => {
    there.push(globSync("reserve", { cwd: folder }).length === 1);
    const error = fails[there.length - 1];
    if (error !== undefined) throw error;
    return "done";
  };
  expect(reserve.makingRoom(operation([]))).toBe("done");
  expect(there.splice(0)).toEqual([true]);
  for (const kind of ["full", "io"] as const) {
    expect(reserve.makingRoom(operation([new StorageError(kind, "no")]))).toBe("done");
    expect(there.splice(0)).toEqual([true, false]);
    expect(statSync(path).size).toBe(bytes);
  }
  expect(() => reserve.makingRoom(operation([full, full]))).toThrow("there is no room");
  expect(there.splice(0)).toEqual([true, false]);
  expect(statSync(path).size).toBe(bytes);
  expect(() => reserve.makingRoom(operation([new StorageError("locked", "wait")]))).toThrow("wait");
  expect(there.splice(0)).toEqual([true]);
  const none = reserveAt(null, 200_000);
  none.keep();
  expect(() => none.makingRoom(operation([full]))).toThrow("there is no room");
  expect(there.splice(0)).toEqual([true]);
});

test("a reserve that is there is kept, and filled up", () => {
  const path = join(folder, "reserve");
  const text = "x".repeat(300_000);
  writeFileSync(path, text);
  reserveAt(path, 200_000).keep();
  expect(readFileSync(path, "utf8") === text).toBe(true);
  writeFileSync(path, "short");
  reserveAt(path, 200_000).keep();
  expect(readFileSync(path, "latin1").slice(0, 5)).toBe("short");
  expect(statSync(path).size).toBeGreaterThanOrEqual(200_000);
  rmSync(path);
  reserveAt(join(folder, "nowhere", "reserve"), 200_000).keep();
});

test("entries that a full disk left over are no thread's, and are erased when there is room", async () => {
  const path = join(folder, "threads.db");
  const before = sqliteStore({ path, erasing: "on-close" });
  await before.list();
  const emptyBytes = statSync(path).size;
  await begin(before, "gone", 20_000);
  // `delete` leaves this state: the thread's name is gone, and the rest is still to be erased.
  const other = new DatabaseSync(path);
  other.exec("DELETE FROM threads WHERE thread = 'gone'; UPDATE last_token SET unerased = unerased + 4294967297");
  await begin(before, "new", 10);
  expect(await before.read("new")).toEqual([said(0), said(1, words.repeat(10))]);
  expect(await before.read("gone")).toEqual([]);
  expect((await before.search?.("words"))?.hits.map(({ threadId }) => threadId)).toEqual(["new"]);
  other.close();
  await before.close();
  const after = new DatabaseSync(path);
  expect(after.prepare("SELECT count(*) AS entries FROM entries").get()).toEqual({ entries: 2 });
  expect(after.prepare("SELECT count(*) AS parts FROM snapshots").get()).toEqual({ parts: 2 });
  expect(after.prepare("SELECT unerased FROM last_token").get()).toEqual({ unerased: 0 });
  after.close();
  expect(statSync(path).size).toBeLessThan(emptyBytes + 44_000);
});

const words = "words ";

const begin = async (store: Store, threadId: string, size: number): Promise<Lease> => {
  const lease = await take(store, threadId);
  await store.append(lease, -1, [said(0), said(1, words.repeat(size))]);
  const chunks = new Map([["a", words.repeat(10)]]);
  await store.saveSnapshot(lease, { threadId, seq: 1, head: words, chunks, dropped: [] });
  return lease;
};
