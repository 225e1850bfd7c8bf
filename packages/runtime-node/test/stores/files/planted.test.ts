// Something else in the place of a journal does not keep a host from other threads.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { createHost, type Recovered, type Store } from "@colloquy/host";
import { conversationMachine, type Entry, start } from "@colloquy/machine";
import { afterEach, beforeEach, expect, test } from "vitest";

import { systemClock, randomIds } from "../../../src/ports/system.ts";
import { filesStore } from "../../../src/stores/files/files-store.ts";
import { newFolder } from "../folder.ts";
import { take } from "../journal.ts";

let parent: string;
let folder: string;
let store: Store;
beforeEach(async () => {
  parent = newFolder();
  folder = join(parent, "threads");
  store = filesStore({ folder, synchronous: "NORMAL" });
  await store.list();
});
afterEach(async () => {
  await store.close();
});

test("a folder that is itself reached by a link is the caller's choice", async () => {
  symlinkSync(folder, join(parent, "link"));
  const linked = filesStore({ folder: join(parent, "link") });
  const lease = await take(store, "thread");
  await store.append(lease, -1, [start(conversationMachine(), { threadId: "thread", at: 0 }).entry]);
  expect(await linked.read("thread")).toHaveLength(1);
  await linked.close();
});

test("a folder in the place of a journal is refused by its path", async () => {
  mkdirSync(join(folder, "thread.jsonl"));
  const lease = await take(store, "thread");
  const later: Entry = { seq: 1, event: { type: "checkpoint.named", at: 1, name: "later" } };
  const { entry } = start(conversationMachine(), { threadId: "thread", at: 0 });
  for (const use of [
    () => store.read("thread"),
    () => store.append(lease, -1, [entry]),
    () => store.append(lease, 0, [later]),
    () => store.rewrite(lease, [entry]),
    () => store.delete("thread"),
  ])
    await expect(async () => use()).rejects.toMatchObject(refusedFolder());
});

test("a folder in the place of a journal keeps a host from no other thread", async () => {
  mkdirSync(join(folder, "thread.jsonl"));
  const machine = conversationMachine();
  const open = { event: { type: "ask.received", at: 1, askId: "a", input: "hi" }, id: "a" } as const;
  const lease = await take(store, "sound");
  await store.append(lease, -1, [start(machine, { threadId: "sound", at: 0 }).entry]);
  await store.release(lease);
  await store.inbox?.post("sound", open);
  await store.acquire("thread", "somebody dead", 0);
  const llm = async () => ({ type: "completed", reply: { content: "done" }, finishReason: "stop" }) as const;
  const recovered = Promise.withResolvers<Recovered>();
  const observers = [{ recovered: recovered.resolve }];
  const host = createHost({ machine, store, llm, clock: systemClock, ids: randomIds, observers });
  const nothing = { threadId: "thread", seq: -1, createdAt: 0, updatedAt: 0, metadata: {} };
  expect((await host.threads()).threads).toMatchObject([nothing, { threadId: "sound" }]);
  host.start();
  const { continued, left } = await recovered.promise;
  expect(continued).toEqual(["sound"]);
  expect(left).toMatchObject([{ threadId: "thread", error: { cause: refusedFolder() } }]);
  await host.close();
});

const refusedFolder = () => ({
  kind: "not-a-store",
  message: expect.stringContaining("a folder stands where a file should"),
});
