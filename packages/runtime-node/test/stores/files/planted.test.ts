// What others may have put into the folder of a store: nothing is read or written through it, and nothing waits for it.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createHost, type Recovered, type Store } from "@colloquy/host";
import type { Lease } from "@colloquy/host/store";
import { conversationMachine, type Entry, start } from "@colloquy/machine";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";

import { systemClock } from "../../../src/ports/clock.ts";
import { randomIds } from "../../../src/ports/ids.ts";
import { filesStore } from "../../../src/stores/files/files-store.ts";

let parent: string;
let folder: string;
let outside: string;
let store: Store;
beforeEach(async () => {
  parent = mkdtempSync(join(tmpdir(), "colloquy-planted-"));
  folder = join(parent, "threads");
  outside = join(parent, "outside");
  mkdirSync(outside);
  store = filesStore({ folder, synchronous: "NORMAL" });
  await store.list();
});
afterEach(async () => {
  await store.close();
  rmSync(parent, { recursive: true, force: true });
});

test.each(["thread.jsonl", "thread.jsonl.part"])(
  "a dangling link %s is not followed when a thread begins",
  async (name) => {
    symlinkSync(join(outside, "words"), join(folder, name));
    const lease = await leaseOf();
    await expect(async () => store.append(lease, -1, [entry(0)])).rejects.toMatchObject(refusedLink(name));
    expect(existsSync(join(outside, "words"))).toBe(false);
  },
);

test("a dangling link in the place of a long id's file is not followed", async () => {
  const threadId = "x".repeat(400);
  const lease = await leaseOf(threadId);
  await store.append(lease, -1, [entry(0)]);
  const [name] = (await names()).filter((each) => each.endsWith(".id"));
  if (name === undefined) throw new Error("a long id has a file");
  await store.delete(threadId);
  symlinkSync(join(outside, "words"), join(folder, name));
  const again = await leaseOf(threadId);
  await expect(async () => store.append(again, -1, [entry(0)])).rejects.toMatchObject(refusedLink(name));
  expect(existsSync(join(outside, "words"))).toBe(false);
});

test("a journal that lies elsewhere, behind a link, is neither read, written, rewritten nor said to be deleted", async () => {
  const lease = await began();
  renameSync(join(folder, "thread.jsonl"), join(outside, "words"));
  symlinkSync(join(outside, "words"), join(folder, "thread.jsonl"));
  const before = readFileSync(join(outside, "words"), "utf8");
  const refused = refusedLink("thread.jsonl");
  for (const use of [
    () => store.read("thread"),
    () => store.append(lease, 1, [entry(2)]),
    () => store.append(lease, 1, []),
    () => store.rewrite(lease, [entry(1, "other")]),
    () => store.delete("thread"),
  ])
    await expect(async () => use()).rejects.toMatchObject(refused);
  expect((await store.list()).threads).toEqual([nothingOf("thread")]);
  expect(readFileSync(join(outside, "words"), "utf8")).toBe(before);
  expect(lstatSync(join(folder, "thread.jsonl")).isSymbolicLink()).toBe(true);
});

test.each(["snapshot", "inbox"])(
  "a folder %s that is a link to another is not written into, and nothing in it is removed",
  async (part) => {
    const lease = await began();
    writeFileSync(join(outside, "mine"), "words");
    symlinkSync(outside, join(folder, `thread.${part}`));
    const uses: readonly (() => unknown)[] =
      part === "snapshot"
        ? [
            () => store.saveSnapshot(lease, snapshot),
            () => store.readSnapshot("thread"),
            () => store.rewrite(lease, [entry(1)]),
          ]
        : [
            () => store.inbox?.post("thread", letter),
            () => store.inbox?.unanswered("thread"),
            () => store.inbox?.discard("thread", "letter"),
          ];
    for (const use of [...uses, () => store.delete("thread")])
      await expect(async () => use()).rejects.toMatchObject({
        kind: "not-a-store",
        message: `files store: "${join(folder, `thread.${part}`)}" is a symbolic link where a folder should be, and nothing is read or written through it. Remove it, or move it away.`,
      });
    expect(await store.read("thread")).toEqual([entry(0), entry(1)]);
    expect(existsSync(join(outside, "mine"))).toBe(true);
  },
);

test("links among the files of a snapshot or an inbox are not followed, and what is behind them is not said to be deleted", async () => {
  const lease = await began();
  await store.saveSnapshot(lease, snapshot);
  await store.inbox?.post("thread", letter);
  const places = ["thread.snapshot/head.json", "thread.snapshot/chunk-a.json", "thread.inbox/000000000001-letter.json"];
  for (const name of places) {
    writeFileSync(join(outside, "words"), "words");
    renameSync(join(folder, name), join(parent, "kept"));
    symlinkSync(join(outside, "words"), join(folder, name));
    const refused = refusedLink(name);
    const uses: readonly (() => unknown)[] = name.startsWith("thread.inbox")
      ? [
          () => store.inbox?.unanswered("thread"),
          () => store.inbox?.answer(lease, [{ id: "letter", handled: true, seq: 1 }]),
        ]
      : [
          () => store.saveSnapshot(lease, snapshot),
          async () => (await store.readSnapshot("thread"))?.chunk("a"),
          () => store.rewrite(lease, [entry(1)]),
        ];
    for (const use of [...uses, () => store.delete("thread")])
      await expect(async () => use()).rejects.toMatchObject(refused);
    expect(readFileSync(join(outside, "words"), "utf8")).toBe("words");
    rmSync(join(folder, name));
    renameSync(join(parent, "kept"), join(folder, name));
  }
  expect(await store.delete("thread")).toBe(true);
});

test.each(["leases.db", "leases.db.part"])("a link %s is not followed when a store is opened", async (name) => {
  await store.close();
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  symlinkSync(join(outside, "words"), join(folder, name));
  await expect(filesStore({ folder }).list()).rejects.toMatchObject(refusedLink(name));
  expect(existsSync(join(outside, "words"))).toBe(false);
});

test("a folder that is itself reached by a link is the caller's choice", async () => {
  symlinkSync(folder, join(parent, "link"));
  const linked = filesStore({ folder: join(parent, "link") });
  await began();
  expect(await linked.read("thread")).toHaveLength(2);
  await linked.close();
});

const plant: Readonly<Record<string, (path: string) => Promise<void>>> = {
  "a FIFO": async (path) => void execFileSync("mkfifo", [path]),
  "a folder": async (path) => mkdirSync(path),
  "a socket": async (path) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
  },
};

test.each(Object.entries(plant))("%s where a file should be is told at once, by its path", async (what, make) => {
  await make(join(folder, "thread.jsonl"));
  await make(join(folder, "other.jsonl.part"));
  const refused = (name: string) => ({
    kind: "not-a-store",
    message: `files store: "${join(folder, name)}" is ${what} where a file should be, and nothing is read or written through it. Remove it, or move it away.`,
  });
  const lease = await leaseOf();
  for (const use of [
    () => store.read("thread"),
    () => store.append(lease, -1, [entry(0)]),
    () => store.append(lease, 0, [entry(1)]),
    () => store.rewrite(lease, [entry(0)]),
    () => store.delete("thread"),
  ])
    await expect(async () => use()).rejects.toMatchObject(refused("thread.jsonl"));
  await store.append(await leaseOf("sound"), -1, [entry(0)]);
  const { threads } = await store.list();
  expect(threads.map(({ threadId }) => threadId)).toEqual(["thread", "sound"]);
  expect(threads[0]).toEqual(nothingOf("thread"));
  const other = await leaseOf("other");
  await expect(async () => store.append(other, -1, [entry(0)])).rejects.toMatchObject(refused("other.jsonl.part"));
});

test("a link in the place of a journal keeps a host from no other thread", async () => {
  symlinkSync(join(outside, "words"), join(folder, "thread.jsonl"));
  const machine = conversationMachine();
  const open = { event: { type: "ask.received", at: 1, askId: "a", input: "hi" }, id: "a" } as const;
  const lease = await leaseOf("sound");
  await store.append(lease, -1, [start(machine, { threadId: "sound", at: 0 }).entry]);
  await store.release(lease);
  await store.inbox?.post("sound", open);
  const llm = async () => ({ type: "completed", reply: { content: "done" }, finishReason: "stop" }) as const;
  const recovered = Promise.withResolvers<Recovered>();
  const observers = [{ recovered: recovered.resolve }];
  const host = createHost({ machine, store, llm, clock: systemClock, ids: randomIds, observers });
  expect((await host.threads()).threads.map(({ threadId }) => threadId)).toEqual(["thread", "sound"]);
  host.start();
  const { continued, left } = await recovered.promise;
  expect(continued).toEqual(["sound"]);
  expect(left).toMatchObject([{ threadId: "thread", error: { cause: refusedLink("thread.jsonl") } }]);
  await host.close();
});

test("a file where a folder should be is told by its path", async () => {
  writeFileSync(join(folder, "thread.snapshot"), "words");
  await expect(store.readSnapshot("thread")).rejects.toMatchObject({
    kind: "not-a-store",
    message: expect.stringContaining(`"${join(folder, "thread.snapshot")}" is a file where a folder should be`),
  });
});

test.each(Object.entries(plant))("%s in the place of the leases is told at once", async (what, make) => {
  const path = join(parent, "new");
  mkdirSync(path);
  await make(join(path, "leases.db"));
  await expect(filesStore({ folder: path }).list()).rejects.toThrow(
    `"${join(path, "leases.db")}" is ${what} where a file should be`,
  );
});

/** How a thread is listed of which nothing can be read. */
const nothingOf = (threadId: string) => ({ threadId, seq: -1, createdAt: 0, updatedAt: 0, metadata: {} });

const refusedLink = (name: string) => ({
  kind: "not-a-store",
  message: `files store: "${join(folder, name)}" is a symbolic link where a file should be, and nothing is read or written through it. Remove it, or move it away.`,
});

const names = async (): Promise<readonly string[]> =>
  execFileSync("ls", ["-A", folder], { encoding: "utf8" }).trim().split("\n");

const leaseOf = async (threadId = "thread"): Promise<Lease> => {
  const lease = await store.acquire(threadId, "owner", 60_000);
  if (lease === null) throw new Error("the lease should have been free");
  return lease;
};

/** A thread of two entries. */
const began = async (): Promise<Lease> => {
  const lease = await leaseOf();
  await store.append(lease, -1, [entry(0), entry(1)]);
  return lease;
};

const snapshot = { threadId: "thread", seq: 1, head: "head", chunks: new Map([["a", "A"]]), dropped: [] };

const letter = { id: "letter", event: { type: "ask.received", at: 1, askId: "letter", input: "words" } } as const;

const entry = (seq: number, name = `entry ${seq}`): Entry =>
  seq === 0
    ? { seq, format: 2, event: { type: "thread.started", at: 0, threadId: "thread" } }
    : { seq, event: { type: "checkpoint.named", at: seq, name } };
