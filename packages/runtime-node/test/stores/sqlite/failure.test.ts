import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Entry } from "@colloquy/machine";
import { afterEach, beforeEach, expect, test } from "vitest";

import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { sqliteFailure } from "../../../src/stores/sqlite/failure.ts";
import { StorageError } from "@colloquy/host/store";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-failure-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ["in a folder that is not there", () => join(folder, "nowhere", "store.db"), /folder ".*nowhere" does not exist/],
  ["that is a directory", () => folder, /it is a directory; name a file in it/],
  ["under a file", () => join(fileOf("plain", "text"), "store.db"), /plain" is not a folder/],
  ["that is empty", () => "", /the path is empty/],
  ["that holds a NUL", () => join(folder, "a\0b"), /the path holds a NUL/],
])("a path %s is refused by name, with the way out", async (_, pathOf, words) => {
  const path = pathOf();
  const error = await refusalOf(() => sqliteStore({ path }).list());
  expect(error.kind).toBe("cannot-open");
  expect(error.message).toMatch(words);
  expect(error.message).toContain(JSON.stringify(path));
});

test("a file that is no database is refused, and left as it is", async () => {
  const path = fileOf("notes.txt", "not a database. ".repeat(500));
  const error = await refusalOf(() => sqliteStore({ path }).list());
  expect(error).toMatchObject({ kind: "not-a-store" });
  expect(error.message).toMatch(/notes\.txt": the file is not a SQLite database/);
  expect(readFileSync(path, "utf8")).toBe("not a database. ".repeat(500));
  expect(readdirSync(folder)).toEqual(["notes.txt"]);
});

test.each(["CREATE TABLE theirs (a)", "PRAGMA user_version = 1", "PRAGMA application_id = 7"])(
  "a database of something else is refused, and left as it is: %s",
  async (sql) => {
    const path = join(folder, "theirs.db");
    change(path, sql);
    const before = readFileSync(path);
    const error = await refusalOf(() => sqliteStore({ path }).list());
    expect(error.kind).toBe("not-a-store");
    expect(error.message).toMatch(/theirs\.db": the database there belongs to something else/);
    expect(readFileSync(path).equals(before)).toBe(true);
  },
);

test.each([
  [99, "newer", "update the package"],
  [4, "older", "read it with the version that wrote it"],
] as const)("a file of schema %i is refused as %s, and left as it is", async (version, kind, words) => {
  const path = await written();
  change(path, `PRAGMA user_version = ${version}`);
  const before = readFileSync(path);
  const error = await refusalOf(() => sqliteStore({ path }).list());
  expect(error.kind).toBe(kind);
  expect(error.message).toContain(
    `it has schema ${version}, and this version of @colloquy/runtime-node reads only 5; ${words}.`,
  );
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a file that may only be read is refused by the first call", async () => {
  const path = `file:${await written()}?mode=ro`;
  const error = await refusalOf(() => sqliteStore({ path }).list());
  expect(error.kind).toBe("read-only");
  expect(error.message).toMatch(/may only be read; give this process the right to write/);
});

test("a lock that is held for too long is told, and its end is noticed", async () => {
  const path = await written();
  const store = sqliteStore({ path, busyTimeoutMs: 1 });
  await store.list();
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const locked = { name: "StorageError", kind: "locked", message: expect.stringMatching(/longer than busyTimeoutMs/) };
  await expect(store.acquire("thread", "owner", 1000)).rejects.toMatchObject(locked);
  expect(await refusalOf(() => sqliteStore({ path, busyTimeoutMs: 1 }).list())).toMatchObject(locked);
  // A reader needs no lock.
  expect(await store.read("thread")).toHaveLength(2);
  other.exec("ROLLBACK");
  other.close();
  expect(await store.acquire("thread", "owner", 1000)).not.toBeNull();
  await store.close();
});

test("a busy timeout that is none is refused", () => {
  expect(() => sqliteStore({ path: ":memory:", busyTimeoutMs: -1 })).toThrow(/busyTimeoutMs is -1/);
  expect(() => sqliteStore({ path: ":memory:", busyTimeoutMs: Number.NaN })).toThrow(/busyTimeoutMs is NaN/);
});

test("a full disk is told as such", async () => {
  const database = new DatabaseSync(":memory:");
  database.exec("PRAGMA max_page_count = 3; CREATE TABLE entries (body)");
  const error = await refusalOf(async () => {
    try {
      database.prepare("INSERT INTO entries VALUES (?)").run("x".repeat(100_000));
    } catch (cause) {
      throw sqliteFailure(cause, "/disk/store.db");
    }
  });
  expect(error.kind).toBe("full");
  expect(error.message).toMatch(/"\/disk\/store\.db": the disk is full; make room/);
});

test("an entry that is not JSON any more is named by thread and seq, and others stay readable", async () => {
  const path = await written("other");
  await written("thread");
  change(
    path,
    `UPDATE entries SET body = '{"ev' WHERE place = (SELECT id FROM threads WHERE thread = 'thread') * 67108864 + 1`,
  );
  const store = sqliteStore({ path });
  const reading = store.read("thread");
  await expect(reading).rejects.toMatchObject({ name: "StorageError", kind: "corrupt" });
  await expect(reading).rejects.toThrow(/store\.db": entry 1 of thread "thread" is not JSON/);
  expect(await store.read("other")).toHaveLength(2);
  await store.close();
});

test("a damaged file is told as such", async () => {
  const path = await written();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xff, 8192));
  const store = sqliteStore({ path });
  await expect(store.read("thread")).rejects.toMatchObject({
    kind: "corrupt",
    message: expect.stringMatching(/store\.db": the file is damaged; restore it/),
  });
  await store.close();
});

test("a closed store says so, whatever it is asked", async () => {
  const path = await written();
  const store = sqliteStore({ path });
  const lease = await store.acquire("thread", "owner", 1000);
  if (lease === null) throw new Error("the lease should have been free");
  await store.close();
  const closed = { kind: "closed", message: expect.stringMatching(/store\.db": it was closed; open it again/) };
  await expect(store.acquire("thread", "owner", 1)).rejects.toMatchObject(closed);
  await expect(async () => store.append(lease, 1, [])).rejects.toMatchObject(closed);
  await expect(store.read("thread")).rejects.toMatchObject(closed);
  await expect(store.list()).rejects.toMatchObject(closed);
  await expect(store.delete("thread")).rejects.toMatchObject(closed);
});

test("a thread id that can't be kept is refused by name", async () => {
  const store = sqliteStore({ path: ":memory:" });
  await expect(store.acquire("a\ud800", "owner", 1)).rejects.toMatchObject({
    kind: "invalid-id",
    message: expect.stringMatching(/the thread id "a\\ud800" holds half of a surrogate pair/),
  });
  await store.close();
});

/** A store of one thread with two entries, closed again. */
const written = async (threadId = "thread"): Promise<string> => {
  const path = join(folder, "store.db");
  const store = sqliteStore({ path });
  const lease = await store.acquire(threadId, "owner", 1000);
  if (lease === null) throw new Error("the lease should have been free");
  const entries: readonly Entry[] = [
    { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId } },
    { seq: 1, event: { type: "checkpoint.named", at: 1, name: `the words of ${threadId}` } },
  ];
  await store.append(lease, -1, entries);
  await store.release(lease);
  await store.close();
  return path;
};

const change = (path: string, sql: string): void => {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
};

const fileOf = (name: string, text: string): string => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

const refusalOf = async (call: () => Promise<unknown>): Promise<StorageError> => {
  try {
    await call();
  } catch (error) {
    if (error instanceof StorageError) return error;
    throw error;
  }
  throw new Error("it should have been refused");
};
