// Conversations are private: only the user of the process may read the stores' files.
import { chmodSync, globSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import type { Lease } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "./folder.ts";
import { said, take } from "./journal.ts";

let parent: string;
let umask: number;
let workingFolder: string;
beforeEach(() => {
  parent = newFolder();
  workingFolder = process.cwd();
  // The most permissive mask.
  umask = process.umask(0);
});
afterEach(() => {
  process.chdir(workingFolder);
  process.umask(umask);
});

describe("files", () => {
  test("are 0600, in folders of 0700, while a store is in use", async () => {
    const folder = join(parent, "threads");
    const store = filesStore({ folder });
    await use(store, "x".repeat(400));
    const modes = modesIn(parent);
    for (const [path, mode] of modes)
      expect([path, mode]).toEqual([path, statSync(path).isDirectory() ? "700" : "600"]);
    const endings = [".jsonl", ".id", "threads.db", "threads.db-reserve", "threads.db-wal", "threads.db-shm"];
    for (const ending of endings) expect(modes.map(([path]) => path).join("\n")).toContain(ending);
    await store.close();
  });

  test("that are there keep their rights, until they are rewritten; so does the folder", async () => {
    const folder = join(parent, "threads");
    const store = filesStore({ folder });
    const lease = await use(store, "thread");
    const journal = join(folder, "thread.jsonl");
    chmodSync(journal, 0o644);
    chmodSync(folder, 0o755);
    await store.append(lease, 1, [said(2)]);
    expect([modeOf(journal), modeOf(folder)]).toEqual(["644", "755"]);
    await store.rewrite(lease, [said(1)]);
    expect([modeOf(journal), modeOf(folder)]).toEqual(["600", "755"]);
    await store.close();
  });

  test("of a relative folder stay where they are when the process goes elsewhere", async () => {
    const elsewhere = join(parent, "elsewhere");
    mkdirSync(elsewhere);
    process.chdir(parent);
    const store = filesStore({ folder: "threads" });
    process.chdir(elsewhere);
    await use(store, "thread");
    expect((await store.list()).threads).toHaveLength(1);
    expect(globSync("**/*", { cwd: elsewhere })).toEqual([]);
    await store.close();
  });
});

describe("a SQLite file", () => {
  test.each([
    ["by its path", (path: string) => path],
    ["by a URI", (path: string) => `file:${path}?cache=private`],
    ["by a relative URI", () => "file:threads.db"],
  ])("and those beside it are 0600, named %s", async (_, name) => {
    process.chdir(parent);
    const store = sqliteStore({ path: name(join(parent, "threads.db")) });
    await use(store, "thread");
    const files = ["threads.db", "threads.db-holder-*", "threads.db-reserve", "threads.db-shm", "threads.db-wal"];
    expect(modesIn(parent).map(([path, mode]) => [path.replace(/(?<=-holder-).+/, "*"), mode])).toEqual(
      files.map((file) => [join(parent, file), "600"]),
    );
    await store.close();
  });

  test("is 0600 also where a link leads to one that is not there yet", async () => {
    symlinkSync(join(parent, "real.db"), join(parent, "link.db"));
    const store = sqliteStore({ path: join(parent, "link.db") });
    await store.list();
    expect(modeOf(join(parent, "real.db"))).toBe("600");
    await store.close();
  });

  test("that is there keeps its rights", async () => {
    const path = join(parent, "threads.db");
    const before = sqliteStore({ path });
    await before.list();
    await before.close();
    chmodSync(path, 0o640);
    const store = sqliteStore({ path });
    await use(store, "thread");
    expect(modeOf(path)).toBe("640");
    await store.close();
  });

  test("of a relative path stays where it is when the process goes elsewhere", async () => {
    const elsewhere = join(parent, "elsewhere");
    mkdirSync(elsewhere);
    process.chdir(parent);
    const store = sqliteStore({ path: "threads.db" });
    process.chdir(elsewhere);
    await use(store, "thread");
    await store.delete("thread");
    await store.close();
    expect(globSync("**/*", { cwd: parent }).sort()).toEqual(["elsewhere", "threads.db", "threads.db-reserve"]);
  });

  test("in memory makes none", async () => {
    process.chdir(parent);
    for (const path of [":memory:", "file::memory:", "file:threads?mode=memory"]) {
      const store = sqliteStore({ path });
      await use(store, "thread");
      await store.close();
    }
    expect(globSync("**/*", { cwd: parent })).toEqual([]);
  });
});

/** Writes one of each thing that a store keeps. */
const use = async (store: Store, threadId: string): Promise<Lease> => {
  const lease = await take(store, threadId);
  await store.append(lease, -1, [said(0), said(1)]);
  await store.saveSnapshot(lease, { threadId, seq: 1, head: "head", chunks: new Map([["a", "A"]]), dropped: [] });
  await store.inbox?.post(threadId, {
    id: "letter",
    event: { type: "ask.received", at: 1, askId: "letter", input: "words" },
  });
  return lease;
};

const modesIn = (folder: string): readonly (readonly [string, string])[] =>
  globSync("**/*", { cwd: folder })
    .sort()
    .map((name) => [join(folder, name), modeOf(join(folder, name))]);

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);
