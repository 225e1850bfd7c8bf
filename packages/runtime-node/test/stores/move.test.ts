import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { createHost, filesStore, type LlmHandler, memoryStore, sqliteStore } from "../../src/index.ts";
import { newFolder } from "./folder.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

const counts: LlmHandler = async ({ turn }) => ({
  type: "completed",
  reply: { content: `answer ${turn}` },
  finishReason: "stop",
});

test("a thread is moved from store to store and back, goes on in each, and leaves no word where it was", async () => {
  const path = join(folder, "store.db");
  const stores = [sqliteStore({ path }), filesStore({ folder: join(folder, "files") }), memoryStore()];
  const hosts = stores.map((store) => createHost({ llm: counts, store, snapshotEvery: 2 }));
  const [first] = hosts;
  if (first === undefined) throw new Error("no host");
  let thread = first.thread("ada");
  await thread.ask("secret");
  for (const host of [...hosts.slice(1), first]) {
    const entries = await thread.exportJournal();
    const moved = await thread.moveTo(host);
    expect(await moved.exportJournal()).toEqual(entries);
    expect(await thread.state()).toBeNull();
    thread = moved;
    const { turn, text } = await thread.ask("more");
    expect(text).toBe(`answer ${turn}`);
  }
  await thread.moveTo(hosts[1] ?? first);
  for (const host of hosts) await host.close();
  for (const store of stores) await store.close();
  expect(readFileSync(path).includes("secret")).toBe(false);
});
