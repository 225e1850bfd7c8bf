import { execFileSync } from "node:child_process";
import fs, { chmodSync, copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { afterEach, beforeEach, expect, test } from "vitest";

import { filesStore } from "../../../src/stores/files/files-store.ts";
import { newFolder } from "../folder.ts";
import { said, take } from "../journal.ts";

let parent: string;
let folder: string;
const open: Store[] = [];
beforeEach(() => {
  parent = newFolder();
  chmodSync(parent, 0o755);
  folder = join(parent, "threads");
});
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
});

test("a folder that may not be entered any more is told in words, whatever is done", async () => {
  const store = await written();
  const lease = await take(store);
  chmodSync(parent, 0o000);
  try {
    await asNobody(async () => {
      for (const use of [
        () => store.append(lease, 1, [said(2)]),
        () => store.rewrite(lease, [said(1)]),
        () => store.read("thread"),
        () => store.list(),
      ])
        await expect(async () => use()).rejects.toMatchObject({ name: "StorageError" });
    });
  } finally {
    chmodSync(parent, 0o755);
  }
});

test.each([
  ["its file", "fdatasyncSync"],
  // Another process may have made the file.
  ["the folder of its file", "fsyncSync"],
] as const)("an append is taken back if the disk does not flush %s, and can be made again", async (_, name) => {
  const store = await written();
  const lease = await take(store);
  const flush = fs[name];
  try {
    fs[name] = () => {
      throw Object.assign(new Error("i/o error"), { code: "EIO" });
    };
    syncBuiltinESMExports();
    await expect(async () => store.append(lease, 1, [said(2)])).rejects.toThrow("i/o error");
  } finally {
    fs[name] = flush;
    syncBuiltinESMExports();
  }
  expect(await store.read("thread")).toEqual([said(0), said(1)]);
  await store.append(lease, 1, [said(2)]);
  expect(await store.read("thread")).toEqual([said(0), said(1), said(2)]);
});

test("a first append whose folder the disk does not flush fails with that error, and can be made again", async () => {
  const store = opened();
  const lease = await take(store);
  const flush = fs.fsyncSync;
  let failures = 0;
  try {
    fs.fsyncSync = () => {
      throw new Error(`i/o error ${(failures += 1)}`);
    };
    syncBuiltinESMExports();
    await expect(async () => store.append(lease, -1, [said(0)])).rejects.toThrow("i/o error 1");
  } finally {
    fs.fsyncSync = flush;
    syncBuiltinESMExports();
  }
  expect(await store.read("thread")).toEqual([]);
  await store.append(lease, -1, [said(0)]);
  expect(await store.read("thread")).toEqual([said(0)]);
});

test("a rewrite of no entries creates no file, and keeps a thread's snapshot", async () => {
  const store = await written();
  await store.rewrite(await take(store, "other"), []);
  expect(readdirSync(folder)).not.toContain("other.jsonl");
  const lease = await take(store);
  await store.saveSnapshot(lease, { threadId: "thread", seq: 1, head: "head", chunks: new Map(), dropped: [] });
  await store.rewrite(lease, []);
  expect(await store.readSnapshot("thread")).toMatchObject({ head: "head" });
});

test.each([
  ["FULL", { opening: "S", append: "D", again: "DS", torn: "TDDS", begin: "DRS", long: "DRSDRS", removal: "SS" }],
  ["NORMAL", { opening: "", append: "", again: "", torn: "T", begin: "R", long: "RR", removal: "" }],
] as const)(
  "a store that is %s flushes a file before it takes effect, then its folder, and closes all",
  async (synchronous, expected) => {
    let [seen, files] = ["", 0];
    const { fdatasyncSync, fsyncSync, renameSync, ftruncateSync, openSync, closeSync } = fs;
    const before = { fdatasyncSync, fsyncSync, renameSync, ftruncateSync, openSync, closeSync };
    const letters = { fdatasyncSync: "D", fsyncSync: "S", renameSync: "R", ftruncateSync: "T" };
    for (const [name, call] of Object.entries(before)) {
      const record = (...given: readonly unknown[]): unknown => {
        seen += new Map(Object.entries(letters)).get(name) ?? "";
        const result: unknown = Reflect.apply(call, fs, given);
        files += name === "openSync" ? 1 : name === "closeSync" ? -1 : 0;
        return result;
      };
      Object.assign(fs, { [name]: record });
    }
    syncBuiltinESMExports();
    const calls = async (use: () => unknown): Promise<string> => {
      seen = "";
      await use();
      expect(files).toBe(0);
      return seen;
    };
    try {
      const store = filesStore({ folder, synchronous });
      open.push(store);
      expect(await calls(() => store.list())).toBe(expected.opening);
      const [lease, long] = [await take(store), await take(store, "x".repeat(300))];
      expect(await calls(() => store.append(lease, -1, [said(0)]))).toBe(expected.begin);
      expect(await calls(() => store.append(long, -1, [said(0)]))).toBe(expected.long);
      expect(await calls(() => store.append(lease, 0, [said(1)]))).toBe(expected.append);
      await store.release(lease);
      const next = await take(store);
      expect(await calls(() => store.append(next, 1, [said(2)]))).toBe(expected.again);
      expect(await calls(() => store.append(next, 2, [said(3)]))).toBe(expected.append);
      fs.appendFileSync(join(folder, "thread.jsonl"), '{"seq":4');
      await store.release(next);
      const last = await take(store);
      expect(await calls(() => store.append(last, 3, [said(4)]))).toBe(expected.torn);
      expect(await calls(() => store.rewrite(last, [said(1)]))).toBe("DRS");
      expect(await calls(() => store.read("thread", 3))).toBe("");
      expect(await calls(() => expect(async () => store.append(last, 7, [said(8)])).rejects.toThrow("thread"))).toBe(
        "",
      );
      expect(await calls(() => store.delete("x".repeat(300), long))).toBe(expected.removal);
    } finally {
      Object.assign(fs, before);
      syncBuiltinESMExports();
    }
  },
);

test("a folder that may only be read is refused by the first call; one that becomes so lets nothing be written until it changes", async () => {
  const store = await written();
  const lease = await take(store);
  chmodSync(folder, 0o555);
  chmodSync(join(folder, "thread.jsonl"), 0o444);
  await asNobody(async () => {
    await expect(opened().list()).rejects.toMatchObject({
      kind: "cannot-open",
      message: expect.stringMatching(/can't be opened; look at (its|the) rights/),
    });
    await expect(async () => store.append(lease, 1, [said(2)])).rejects.toMatchObject({ kind: "read-only" });
    await expect(store.rewrite(lease, [said(1)])).rejects.toMatchObject({ kind: "read-only" });
    await expect(store.delete("thread")).rejects.toMatchObject({ kind: "read-only" });
    expect(await store.read("thread")).toEqual([said(0), said(1)]);
  });
  chmodSync(folder, 0o777);
  chmodSync(join(folder, "thread.jsonl"), 0o666);
  await asNobody(async () => {
    await store.append(lease, 1, [said(2)]);
    expect(await store.read("thread")).toEqual([said(0), said(1), said(2)]);
  });
});

test("a folder that is gone is told, never taken for an empty one, and used again when it is back", async () => {
  const store = await written();
  const lease = await take(store);
  renameSync(folder, join(parent, "away"));
  const gone = {
    kind: "cannot-open",
    message: expect.stringMatching(/threads\.db": the file that was opened was deleted or moved/),
  };
  await expect(store.read("thread")).rejects.toMatchObject(gone);
  await expect(async () => store.append(lease, 1, [said(2)])).rejects.toMatchObject(gone);
  // An unmounted disk leaves an empty folder.
  mkdirSync(folder);
  await expect(store.list()).rejects.toMatchObject(gone);
  await expect(store.inbox?.post("thread", letter)).rejects.toMatchObject(gone);
  rmSync(folder, { recursive: true });
  renameSync(join(parent, "away"), folder);
  await store.append(lease, 1, [said(2)]);
  expect(await store.read("thread")).toHaveLength(3);
});

test("a folder in which something else has taken the place of its database is told until it is put right", async () => {
  const store = await written();
  const path = join(folder, "threads.db");
  renameSync(path, join(parent, "threads.db"));
  writeFileSync(path, "words ".repeat(1000));
  for (let tries = 0; tries < 2; tries += 1)
    await expect(store.read("thread")).rejects.toMatchObject({ kind: "cannot-open" });
  renameSync(join(parent, "threads.db"), path);
  expect(await store.read("thread")).toHaveLength(2);
  await store.append(await take(store), 1, [said(2)]);
});

test("a store whose folder another has taken the place of writes into neither", async () => {
  const store = await written();
  const lease = await take(store);
  renameSync(folder, join(parent, "away"));
  const other = await written();
  await take(other, "thread", "other");
  const replaced = { kind: "cannot-open", message: expect.stringMatching(/another has taken its place/) };
  for (const use of [
    () => store.acquire("thread", "owner", 1000),
    () => store.append(lease, 1, [said(2)]),
    () => store.rewrite(lease, [said(1)]),
    () => store.inbox?.post("thread", letter),
    () => store.delete("thread"),
  ])
    await expect(async () => use()).rejects.toMatchObject(replaced);
  expect(await other.read("thread")).toEqual([said(0), said(1)]);
  expect(await other.inbox?.unanswered("thread")).toEqual([]);
  // SQLite removes a closed file's log by name, but not here, where the name belongs to another file.
  expect(readdirSync(folder)).toContain("threads.db-wal");
});

test("a journal that is copied into the folder is a thread like any other, without the database too", async () => {
  const store = await written();
  await store.close();
  const copy = join(parent, "copy");
  mkdirSync(copy);
  copyFileSync(join(folder, "thread.jsonl"), join(copy, "thread.jsonl"));
  const other = filesStore({ folder: copy });
  open.push(other);
  expect((await other.list()).threads).toMatchObject([{ threadId: "thread", seq: 1 }]);
  const lease = await take(other);
  const draft = { threadId: "thread", seq: 1, head: "head", chunks: new Map(), dropped: [] };
  await other.saveSnapshot(lease, draft);
  expect((await other.readSnapshot("thread"))?.head).toBe("head");
  await other.append(lease, 1, [said(2)]);
  expect(await other.read("thread")).toEqual([said(0), said(1), said(2)]);
});

test("a file that may not grow is told as a full disk, with nothing of the entry kept, and others can be written", () => {
  const writer = fileURLToPath(new URL("full-disk-writer.ts", import.meta.url));
  // Bash counts in KiB.
  const said = shell('ulimit -f 256; exec "$0" "$1" "$2"', process.execPath, writer, folder);
  expect(JSON.parse(said)).toEqual({
    kind: "full",
    message: expect.stringContaining("raise the limit on the size of files"),
    entriesAfter: 3,
    smallerOne: "appended",
    otherThread: "appended",
  });
});

const mounted = (): boolean => {
  try {
    mkdirSync(folder);
    shell('mount -t tmpfs -o size=3m tmpfs "$0"', folder);
    return true;
  } catch {
    return false;
  }
};

test("a disk that is full is told as such, and is used again when there is room", async ({ skip }) => {
  if (!mounted()) return skip("no disk can be mounted here");
  try {
    const store = await written();
    const lease = await take(store);
    await store.saveSnapshot(lease, {
      threadId: "thread",
      seq: 1,
      head: "head",
      chunks: new Map([["a", "A"]]),
      dropped: [],
    });
    const seq = await fill(store, lease);
    const full = {
      kind: "full",
      message: expect.stringMatching(/the disk is full(, or a quota is used up)?; make room and try again/),
    };
    const large = "x".repeat(100_000);
    await expect(async () => store.append(lease, seq, [said(seq + 1, large), said(seq + 2)])).rejects.toMatchObject(
      full,
    );
    await expect(
      store.inbox?.post("thread", { ...letter, event: { ...letter.event, input: large } }),
    ).rejects.toMatchObject(full);
    await expect(store.rewrite(lease, [said(1, "x".repeat(1_000_000))])).rejects.toMatchObject(full);
    const chunks = new Map([["b", large]]);
    const saving = store.saveSnapshot(lease, { threadId: "thread", seq, head: "newer", chunks, dropped: ["a"] });
    await expect(saving).rejects.toMatchObject(full);
    expect(await store.read("thread")).toHaveLength(seq + 1);
    expect(await store.inbox?.unanswered("thread")).toEqual([]);
    rmSync(join(folder, "filler"));
    await store.append(lease, seq, [said(seq + 1, large), said(seq + 2)]);
    await store.inbox?.post("thread", letter);
    await store.rewrite(lease, [said(1)]);
    expect(await store.read("thread")).toHaveLength(seq + 3);
    expect(await store.inbox?.unanswered("thread")).toEqual([letter]);
    await store.close();
  } finally {
    for (const store of open.splice(0)) await store.close();
    shell('umount "$0"', folder);
  }
});

const shell = (program: string, ...given: readonly string[]): string =>
  execFileSync("bash", ["-c", program, ...given], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

/** Appends until the disk is full. Returns the last seq. */
const fill = async (store: Store, lease: Lease): Promise<number> => {
  // Another file fills most of the disk, and can be removed.
  writeFileSync(join(folder, "filler"), "x".repeat(700_000));
  let seq = 1;
  for (;;) {
    try {
      await store.append(lease, seq, [said(seq + 1, "x".repeat(2000))]);
      seq += 1;
    } catch (error) {
      expect(error).toMatchObject({ kind: "full" });
      return seq;
    }
  }
};

const opened = (): Store => {
  const store = filesStore({ folder });
  open.push(store);
  return store;
};

/** Makes a store with a thread of two entries. */
const written = async (): Promise<Store> => {
  const store = opened();
  const lease = await take(store);
  await store.append(lease, -1, [said(0), said(1)]);
  await store.release(lease);
  return store;
};

const letter = { id: "letter", event: { type: "ask.received", at: 1, askId: "letter", input: "words" } } as const;

/** Runs without root's rights, since root may write everywhere. */
const asNobody = async (use: () => Promise<void>): Promise<void> => {
  if (process.geteuid?.() !== 0) return use();
  process.seteuid?.(65_534);
  try {
    await use();
  } finally {
    process.seteuid?.(0);
  }
};
