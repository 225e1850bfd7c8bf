import fs, { readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { openSqlite, reserveOf } from "../../../src/stores/sqlite/database.ts";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { said, take } from "../journal.ts";
import { newFolder } from "../folder.ts";

let folder: string;
let path: string;
let now: number;
let store: Store;
let lease: Lease;
beforeEach(async () => {
  folder = newFolder();
  path = join(folder, "store.db");
  now = 1_000_000;
  store = sqliteStore({ path, clock: { now: () => now } });
  lease = await take(store);
  await store.append(lease, -1, [said(0, "zero"), said(1, "one")]);
});
afterEach(async () => {
  await store.close();
});

const gone = {
  name: "StorageError",
  kind: "cannot-open",
  message: expect.stringMatching(/store\.db": the file that was opened was deleted or moved, or another has taken/),
};

const failsEverywhere = async (): Promise<void> => {
  await expect(store.acquire("other", "somebody", 1000)).rejects.toMatchObject(gone);
  await expect(store.renew(lease, 60_000)).rejects.toMatchObject(gone);
  await expect(store.rewrite(lease, [said(1, "other")])).rejects.toMatchObject(gone);
  expect(() => store.append(lease, 1, [said(2, "two")])).toThrow(expect.objectContaining(gone));
  await expect(store.read("thread")).rejects.toMatchObject(gone);
};

describe("a store whose file", () => {
  test("was deleted says so, and acknowledges nothing", async () => {
    for (const file of readdirSync(folder)) rmSync(join(folder, file));
    await failsEverywhere();
  });

  test("was deleted says so by appends alone, at once where they are flushed, else soon", async () => {
    rmSync(path);
    expect(() => store.append(lease, 1, [said(2, "two")])).toThrow(expect.objectContaining(gone));
    const told: unknown = expect.objectContaining(gone);
    for (const [ms, expected] of [
      [99, undefined],
      [100, told],
      [-1, told],
    ] as const) {
      const other = join(newFolder(), "store.db");
      const fast = sqliteStore({ path: other, clock: { now: () => now }, synchronous: "NORMAL" });
      const held = await take(fast);
      await fast.append(held, -1, [said(0, "zero")]);
      rmSync(other);
      now += ms;
      const outcome = await Promise.resolve()
        .then(() => fast.append(held, 0, [said(1, "one")]))
        .catch((error: unknown) => error);
      expect(outcome).toEqual(expected);
      await fast.close();
    }
  });

  test("was moved goes on when it is back", async () => {
    renameSync(path, join(folder, "elsewhere.db"));
    await failsEverywhere();
    renameSync(join(folder, "elsewhere.db"), path);
    await store.append(lease, 1, [said(2, "two")]);
    expect(await store.read("thread")).toHaveLength(3);
  });

  test("was replaced leaves the new one alone, whose processes have their own leases", async () => {
    new DatabaseSync(path).exec(`VACUUM INTO '${join(folder, "backup.db")}'`);
    await store.append(lease, 1, [said(2, "lost")]);
    // Follows the documentation, except that this process still has the file open.
    rmSync(`${path}-wal`);
    rmSync(`${path}-shm`);
    renameSync(join(folder, "backup.db"), path);
    const restored = sqliteStore({ path, clock: { now: () => now + 60_000 } });
    const other = await take(restored, "thread", "else");
    await restored.append(other, 1, [said(2, "kept")]);
    await failsEverywhere();
    await store.close();
    await restored.append(other, 2, [said(3, "and more")]);
    expect(await restored.read("thread")).toEqual([
      said(0, "zero"),
      said(1, "one"),
      said(2, "kept"),
      said(3, "and more"),
    ]);
    await restored.close();
    const reader = new DatabaseSync(path);
    expect(reader.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    expect(reader.prepare("SELECT count(*) AS entries FROM entries").get()).toEqual({ entries: 4 });
    reader.close();
  });
});

test("two files are told apart by numbers that are too large for a double, as on Windows", async () => {
  const { statSync: statOf } = fs;
  const large = (file: fs.PathLike, options?: fs.StatSyncOptions): unknown => {
    const there = statOf(file, { ...options, bigint: true, throwIfNoEntry: true });
    const ino = 2n ** 60n + there.ino;
    return options?.bigint === true ? { ...there, ino } : { ...there, ino: Number(ino) };
  };
  Object.assign(fs, { statSync: large });
  syncBuiltinESMExports();
  try {
    const other = join(folder, "other.db");
    const [first, second] = [sqliteStore({ path: other }), join(folder, "second.db")];
    const held = await take(first);
    new DatabaseSync(second).close();
    renameSync(second, other);
    await expect(async () => first.append(held, -1, [said(0)])).rejects.toMatchObject({ kind: "cannot-open" });
    await first.close();
  } finally {
    Object.assign(fs, { statSync: statOf });
    syncBuiltinESMExports();
  }
});

test.each([
  ["FULL", { synchronous: 2, fullfsync: 1, wal_autocheckpoint: 64 }],
  ["NORMAL", { synchronous: 1, fullfsync: 0, wal_autocheckpoint: 1000 }],
] as const)(
  "a new file that is flushed as %s has large pages, a log, and a reserve of a megabyte",
  (synchronous, own) => {
    const file = join(folder, "new.db");
    const database = openSqlite({ path: file, busyTimeoutMs: 7, synchronous });
    const settings = { ...own, page_size: 8192, journal_mode: "wal", secure_delete: 1 };
    const read = (name: string): unknown => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    expect(Object.fromEntries(Object.keys(settings).map((name) => [name, read(name)]))).toEqual(settings);
    expect(read("busy_timeout")).toBe(7);
    reserveOf(file).keep();
    expect(statSync(`${file}-reserve`).size).toBe(2 ** 20);
    database.close();
  },
);

test("a store in memory has no file that could be gone", async () => {
  const inMemory = sqliteStore({ path: ":memory:", clock: { now: () => (now += 1000) } });
  const held = await take(inMemory);
  await inMemory.append(held, -1, [said(0, "zero")]);
  expect(await inMemory.renew(held, 60_000)).toBe(true);
  await inMemory.close();
});
