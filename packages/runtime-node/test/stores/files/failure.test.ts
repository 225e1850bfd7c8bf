import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

import { type Lease, StorageError } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";
import { afterEach, beforeEach, expect, test } from "vitest";

import { filesStore } from "../../../src/stores/files/files-store.ts";

let parent: string;
let folder: string;
const open: Store[] = [];
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "colloquy-failure-"));
  chmodSync(parent, 0o755);
  folder = join(parent, "threads");
});
afterEach(async () => {
  for (const store of open.splice(0)) await store.close();
  rmSync(parent, { recursive: true, force: true });
});

test.each([
  [
    "in a folder that is not there",
    () => join(parent, "nowhere", "threads"),
    /the folder ".*" does not exist, or may not be entered; create it first/,
  ],
  ["that is a file", () => fileOf("plain"), /plain" is not a folder/],
  ["under a file", () => join(fileOf("plain"), "threads"), /the folder ".*" does not exist, or may not be entered/],
  ["that is empty", () => "", /the path is empty; name a folder/],
  ["that holds a NUL", () => join(parent, "a\0b"), /the path holds a NUL; name a folder/],
])("a path %s is refused by name, with the way out", async (_, pathOf, words) => {
  const path = pathOf();
  const error = await refusalOf(filesStore({ folder: path }));
  expect(error.kind).toBe("cannot-open");
  expect(error.message).toMatch(words);
  expect(error.message).toContain(JSON.stringify(path));
});

test("a database that is none, or is a newer version's, is refused and left as it is", async () => {
  await (await written()).close();
  const path = join(folder, "threads.db");
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 99");
  database.close();
  expect(await refusalOf(opened())).toMatchObject({ kind: "newer", message: expect.stringContaining(path) });
  writeFileSync(path, "words ".repeat(1000));
  expect(await refusalOf(opened())).toMatchObject({ kind: "not-a-store", message: expect.stringContaining(path) });
  expect(readFileSync(path, "utf8")).toBe("words ".repeat(1000));
});

test("a lock that is held for too long is told, and its end is noticed", async () => {
  await written();
  const store = opened({ busyTimeoutMs: 1 });
  await store.list();
  const other = new DatabaseSync(join(folder, "threads.db"));
  other.exec("BEGIN IMMEDIATE");
  const locked = {
    kind: "locked",
    message: expect.stringMatching(/kept it locked for longer than busyTimeoutMs/),
  };
  await expect(store.acquire("thread", "owner", 1000)).rejects.toMatchObject(locked);
  // A reader needs no lock.
  expect(await store.read("thread")).toHaveLength(2);
  other.exec("ROLLBACK");
  other.close();
  expect(await store.acquire("thread", "owner", 1000)).not.toBeNull();
});

test("a busy timeout that is none is refused", () => {
  expect(() => filesStore({ folder, busyTimeoutMs: -1 })).toThrow(/busyTimeoutMs is -1/);
  expect(() => filesStore({ folder, busyTimeoutMs: Number.NaN })).toThrow(/busyTimeoutMs is NaN/);
});

test("a folder that may not be entered any more is told in words, whatever is done", async () => {
  const store = await written();
  const lease = await leaseOf(store);
  chmodSync(parent, 0o000);
  try {
    await asNobody(async () => {
      for (const use of [
        () => store.append(lease, 1, [entry(2)]),
        () => store.rewrite(lease, [entry(1)]),
        () => store.read("thread"),
        () => store.list(),
      ])
        await expect(async () => use()).rejects.toMatchObject({ name: "StorageError" });
    });
  } finally {
    chmodSync(parent, 0o755);
  }
});

test("a folder that may only be read is refused by the first call; one that becomes so lets nothing be written until it changes", async () => {
  const store = await written();
  const lease = await leaseOf(store);
  chmodSync(folder, 0o555);
  chmodSync(join(folder, "thread.jsonl"), 0o444);
  await asNobody(async () => {
    expect(await refusalOf(opened())).toMatchObject({
      kind: "cannot-open",
      message: expect.stringMatching(/can't be opened; look at (its|the) rights/),
    });
    await expect(async () => store.append(lease, 1, [entry(2)])).rejects.toMatchObject({ kind: "read-only" });
    await expect(store.rewrite(lease, [entry(1)])).rejects.toMatchObject({ kind: "read-only" });
    await expect(store.delete("thread")).rejects.toMatchObject({ kind: "read-only" });
    expect(await store.read("thread")).toEqual([entry(0), entry(1)]);
  });
  chmodSync(folder, 0o777);
  chmodSync(join(folder, "thread.jsonl"), 0o666);
  await asNobody(async () => {
    await store.append(lease, 1, [entry(2)]);
    expect(await store.read("thread")).toEqual([entry(0), entry(1), entry(2)]);
  });
});

test("a folder that is gone is told, never taken for an empty one, and used again when it is back", async () => {
  const store = await written();
  const lease = await leaseOf(store);
  renameSync(folder, join(parent, "away"));
  const gone = {
    kind: "cannot-open",
    message: expect.stringMatching(/threads\.db": the file that was opened was deleted or moved/),
  };
  await expect(store.read("thread")).rejects.toMatchObject(gone);
  await expect(async () => store.append(lease, 1, [entry(2)])).rejects.toMatchObject(gone);
  // As a disk leaves its folder when it is taken off.
  mkdirSync(folder);
  await expect(store.list()).rejects.toMatchObject(gone);
  await expect(store.inbox?.post("thread", letter)).rejects.toMatchObject(gone);
  rmSync(folder, { recursive: true });
  renameSync(join(parent, "away"), folder);
  await store.append(lease, 1, [entry(2)]);
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
  await store.append(await leaseOf(store), 1, [entry(2)]);
});

test("a store whose folder another has taken the place of writes into neither", async () => {
  const store = await written();
  const lease = await leaseOf(store);
  renameSync(folder, join(parent, "away"));
  const other = await written();
  await leaseOf(other, "other");
  const replaced = { kind: "cannot-open", message: expect.stringMatching(/another has taken its place/) };
  for (const use of [
    () => store.acquire("thread", "owner", 1000),
    () => store.append(lease, 1, [entry(2)]),
    () => store.rewrite(lease, [entry(1)]),
    () => store.inbox?.post("thread", letter),
    () => store.delete("thread"),
  ])
    await expect(async () => use()).rejects.toMatchObject(replaced);
  expect(await other.read("thread")).toEqual([entry(0), entry(1)]);
  expect(await other.inbox?.unanswered("thread")).toEqual([]);
  // SQLite removes by name what belongs to a file that it closes: not here, where the name means another.
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
  const lease = await leaseOf(other);
  const draft = { threadId: "thread", seq: 1, head: "head", chunks: new Map(), dropped: [] };
  await other.saveSnapshot(lease, draft);
  expect((await other.readSnapshot("thread"))?.head).toBe("head");
  await other.append(lease, 1, [entry(2)]);
  expect(await other.read("thread")).toEqual([entry(0), entry(1), entry(2)]);
});

test("a closed store says so, whatever it is asked", async () => {
  const store = await written();
  const lease = await leaseOf(store);
  await store.close();
  await store.close();
  const closed = { kind: "closed", message: expect.stringMatching(/it was closed; open it again/) };
  for (const use of [
    () => store.acquire("thread", "owner", 1),
    () => store.append(lease, 1, []),
    () => store.read("thread"),
    () => store.list(),
    () => store.readSnapshot("thread"),
    () => store.inbox?.unanswered("thread"),
    () => store.delete("thread"),
  ])
    await expect(async () => use()).rejects.toMatchObject(closed);
});

test("a thread id that can't be kept is refused by name", async () => {
  await expect(opened().acquire("a\ud800", "owner", 1)).rejects.toMatchObject({
    kind: "invalid-id",
    message: expect.stringMatching(/the thread id "a\\ud800" holds half of a surrogate pair/),
  });
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
    const lease = await leaseOf(store);
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
    await expect(async () => store.append(lease, seq, [entry(seq + 1, large), entry(seq + 2)])).rejects.toMatchObject(
      full,
    );
    await expect(
      store.inbox?.post("thread", { ...letter, event: { ...letter.event, input: large } }),
    ).rejects.toMatchObject(full);
    await expect(store.rewrite(lease, [entry(1, "x".repeat(1_000_000))])).rejects.toMatchObject(full);
    const chunks = new Map([["b", large]]);
    const saving = store.saveSnapshot(lease, { threadId: "thread", seq, head: "newer", chunks, dropped: ["a"] });
    await expect(saving).rejects.toMatchObject(full);
    expect(await store.read("thread")).toHaveLength(seq + 1);
    expect(await store.inbox?.unanswered("thread")).toEqual([]);
    rmSync(join(folder, "filler"));
    await store.append(lease, seq, [entry(seq + 1, large), entry(seq + 2)]);
    await store.inbox?.post("thread", letter);
    await store.rewrite(lease, [entry(1)]);
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

/** Appends until the disk is full, and says up to which seq it went. */
const fill = async (store: Store, lease: Lease): Promise<number> => {
  // Most of it is another's, which can be taken away.
  writeFileSync(join(folder, "filler"), "x".repeat(700_000));
  let seq = 1;
  for (;;) {
    try {
      await store.append(lease, seq, [entry(seq + 1, "x".repeat(2000))]);
      seq += 1;
    } catch (error) {
      expect(error).toMatchObject({ kind: "full" });
      return seq;
    }
  }
};

const opened = (options: { readonly busyTimeoutMs?: number } = {}): Store => {
  const store = filesStore({ folder, ...options });
  open.push(store);
  return store;
};

/** A store of one thread with two entries. */
const written = async (): Promise<Store> => {
  const store = opened();
  const lease = await leaseOf(store);
  await store.append(lease, -1, [entry(0), entry(1)]);
  await store.release(lease);
  return store;
};

const leaseOf = async (store: Store, owner = "owner"): Promise<Lease> => {
  const lease = await store.acquire("thread", owner, 60_000);
  if (lease === null) throw new Error("the lease should have been free");
  return lease;
};

const entry = (seq: number, name = `entry ${seq}`): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "thread" } }
    : { seq, event: { type: "checkpoint.named", at: seq, name } };

const letter = { id: "letter", event: { type: "ask.received", at: 1, askId: "letter", input: "words" } } as const;

/** Root may write everywhere: it gives its rights up for a while. */
const asNobody = async (use: () => Promise<void>): Promise<void> => {
  if (process.geteuid?.() !== 0) return use();
  process.seteuid?.(65_534);
  try {
    await use();
  } finally {
    process.seteuid?.(0);
  }
};

const fileOf = (name: string): string => {
  writeFileSync(join(parent, name), "text");
  return join(parent, name);
};

const refusalOf = async (store: Store): Promise<StorageError> => {
  try {
    await store.list();
  } catch (error) {
    if (error instanceof StorageError) return error;
    throw error;
  }
  throw new Error("it should have been refused");
};
