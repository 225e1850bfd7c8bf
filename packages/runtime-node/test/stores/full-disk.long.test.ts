// Operations that free space must work on a full disk.
import { execFileSync } from "node:child_process";
import { appendFileSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "./folder.ts";
import { said, take } from "./journal.ts";

let parent: string;
let disk: string;
let isMounted: boolean;
const opened: Store[] = [];
beforeEach(() => {
  parent = newFolder();
  disk = join(parent, "disk");
  mkdirSync(disk);
  isMounted = mount();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  if (isMounted) execFileSync("bash", ["-c", 'umount "$0"', disk]);
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
    await expect(async () => store.append(lease, 1, [said(2, "x".repeat(50_000))])).rejects.toMatchObject(full);
    const large = await take(store, "large");
    await expect(store.rewrite(large, [said(1, words.repeat(500_000))])).rejects.toMatchObject({
      ...full,
      message: expect.stringMatching(/Nothing of thread "large" was rewritten; that needs room on the disk: /),
    });
    expect(await store.read("large")).toHaveLength(2);
    for (const threadId of ["one", "filler"]) {
      const held = await take(store, threadId);
      await deleted(store, threadId);
      await store.release(held);
    }
    expect((await store.list()).threads).toMatchObject([{ threadId: "large" }]);
    expect(await store.read("filler")).toEqual([]);
    expect(seq).toBeGreaterThan(10);
  });
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
      await store.append(lease, seq, [said(seq + 1, words.repeat(500))]);
    } catch (error) {
      expect(error).toMatchObject({ kind: "full" });
      return seq;
    }
  }
};

/** Deletes a thread, even if its bytes can't be overwritten. */
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
  const lease = await take(store, threadId);
  await store.append(lease, -1, [said(0), said(1, words.repeat(size))]);
  const chunks = new Map([["a", words.repeat(10)]]);
  await store.saveSnapshot(lease, { threadId, seq: 1, head: words, chunks, dropped: [] });
  return lease;
};
