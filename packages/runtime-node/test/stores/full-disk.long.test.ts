// What makes room on a full disk has to be possible on one.
import { execFileSync } from "node:child_process";
import { appendFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";

let parent: string;
let disk: string;
let isMounted: boolean;
const opened: Store[] = [];
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "colloquy-full-"));
  disk = join(parent, "disk");
  mkdirSync(disk);
  isMounted = mount();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  if (isMounted) execFileSync("bash", ["-c", 'umount "$0"', disk]);
  rmSync(parent, { recursive: true, force: true });
});

const kinds: Readonly<Record<string, () => Store>> = {
  files: () => filesStore({ folder: join(disk, "threads") }),
  SQLite: () => sqliteStore({ path: join(disk, "threads.db") }),
};

describe.each(Object.entries(kinds))("a store in %s", (_kind, make) => {
  const open = (): Store => {
    const store = make();
    opened.push(store);
    return store;
  };
  test.for([
    ["small threads", 100, false],
    ["large threads", 25_000, false],
    ["small threads, opened by now", 100, true],
    ["large threads, opened by now", 25_000, true],
  ] as const)("deletes on a disk that something else has filled: %s", async ([_, size, isOpened], { skip }) => {
    if (!isMounted) return skip("no disk can be mounted here");
    const before = open();
    for (const threadId of ["one", "two", "three"]) await begin(before, threadId, size);
    if (isOpened) await before.close();
    fillUp();
    const store = isOpened ? open() : before;
    for (const threadId of ["one", "two", "three"]) await deleted(store, threadId);
    expect((await store.list()).threads).toEqual([]);
    rmSync(join(disk, "filler"));
    await begin(store, "one", size);
    expect(await store.read("one")).toHaveLength(2);
    await store.delete("one");
    await store.close();
    expect(wordsLeft()).toEqual([]);
  });

  test("deletes on a disk that it has filled itself, as a host does, and rewrites what fits; else it says what that needs", async ({
    skip,
  }) => {
    if (!isMounted) return skip("no disk can be mounted here");
    const store = open();
    const lease = await begin(store, "one", 1000);
    await begin(store, "large", 60_000);
    const filler = await begin(store, "filler", 1000);
    const seq = await fill(store, filler);
    const full = { name: "StorageError", kind: "full" };
    await expect(async () => store.append(lease, 1, [entry(2, "x".repeat(50_000))])).rejects.toMatchObject(full);
    const large = await leaseOf(store, "large");
    await expect(store.rewrite(large, [entry(1, words.repeat(500_000))])).rejects.toMatchObject({
      ...full,
      message: expect.stringMatching(/Nothing of thread "large" was rewritten; that needs room on the disk: /),
    });
    expect(await store.read("large")).toHaveLength(2);
    for (const threadId of ["one", "filler"]) {
      const held = await leaseOf(store, threadId);
      await deleted(store, threadId);
      await store.release(held);
    }
    expect((await store.list()).threads).toMatchObject([{ threadId: "large" }]);
    expect(await store.read("filler")).toEqual([]);
    expect(seq).toBeGreaterThan(10);
  });
});

test("entries that a full disk left over are no thread's, and are erased when there is room", async () => {
  const path = join(parent, "threads.db");
  const before = sqliteStore({ path, erasing: "on-close" });
  await before.list();
  const emptyBytes = statSync(path).size;
  await begin(before, "gone", 20_000);
  // As `delete` leaves it: what names the thread is gone, and the rest is owed.
  const other = new DatabaseSync(path);
  other.exec("DELETE FROM threads WHERE thread = 'gone'; UPDATE last_token SET unerased = unerased + 4294967297");
  await begin(before, "new", 10);
  expect(await before.read("new")).toEqual([entry(0), entry(1, words.repeat(10))]);
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

const mount = (): boolean => {
  try {
    execFileSync("bash", ["-c", 'mount -t tmpfs -o size=4m tmpfs "$0"', disk], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

const fillUp = (): void => {
  for (const size of [65_536, 4096, 1])
    for (;;) {
      try {
        appendFileSync(join(disk, "filler"), "x".repeat(size));
      } catch {
        break;
      }
    }
};

/** Appends until the disk is full. */
const fill = async (store: Store, lease: Lease): Promise<number> => {
  for (let seq = 1; ; seq += 1) {
    try {
      await store.append(lease, seq, [entry(seq + 1, words.repeat(500))]);
    } catch (error) {
      expect(error).toMatchObject({ kind: "full" });
      return seq;
    }
  }
};

/** Deleted, whether or not its bytes could be written over. */
const deleted = async (store: Store, threadId: string): Promise<void> => {
  await store.delete(threadId).catch((error: unknown) => expect(error).toMatchObject({ kind: "not-erased" }));
  expect(await store.read(threadId)).toEqual([]);
  expect(await store.readSnapshot(threadId)).toBeNull();
};

const wordsLeft = (): readonly string[] =>
  globSync("**/*", { cwd: disk, withFileTypes: true })
    .filter((file) => file.isFile() && readFileSync(join(file.parentPath, file.name), "latin1").includes(words))
    .map(({ name }) => name);

const begin = async (store: Store, threadId: string, size: number): Promise<Lease> => {
  const lease = await leaseOf(store, threadId);
  await store.append(lease, -1, [entry(0), entry(1, words.repeat(size))]);
  const chunks = new Map([["a", words.repeat(10)]]);
  await store.saveSnapshot(lease, { threadId, seq: 1, head: words, chunks, dropped: [] });
  return lease;
};

const leaseOf = async (store: Store, threadId: string): Promise<Lease> => {
  const lease = await store.acquire(threadId, "owner", 60_000);
  if (lease === null) throw new Error("the lease should have been free");
  return lease;
};

const entry = (seq: number, name = `entry ${seq}`): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "thread" } }
    : { seq, event: { type: "ask.received", at: seq, askId: `ask ${seq}`, input: name } };
