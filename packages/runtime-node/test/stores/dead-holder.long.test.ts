// A lease ends when its holder's process dies in any way, and not before.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { globSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";

import type { Clock, Store } from "@colloquy/host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { storeAt } from "./kinds.ts";
import { newFolder } from "./folder.ts";

let folder: string;
const opened: Store[] = [];
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

describe.each(["sqlite", "files"])("a lease of a %s store", (kind) => {
  const place = (): string => join(folder, kind === "files" ? "threads" : "threads.db");
  const open = (clock?: Pick<Clock, "now">): Store => {
    const store = storeAt(kind, place(), clock === undefined ? {} : { clock });
    opened.push(store);
    return store;
  };
  const holder = async (): Promise<ChildProcess> => {
    const child = fork(new URL("holder.ts", import.meta.url), [kind, place()]);
    children.push(child);
    await once(child, "message");
    return child;
  };
  const killed = async (child: ChildProcess): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  const locks = (): readonly string[] => globSync("**/*-holder-*", { cwd: folder });

  test("is free at once after its process was killed, and the file of its lock is gone", async () => {
    const child = await holder();
    const store = open();
    expect(await store.acquire("thread", "another", 60_000)).toBeNull();
    await killed(child);
    expect(await store.acquire("thread", "another", 60_000)).not.toBeNull();
    expect(locks()).toHaveLength(1);
    await store.close();
    expect(locks()).toEqual([]);
  });

  test("lasts while its process is stopped, until its time is over", async () => {
    const child = await holder();
    child.kill("SIGSTOP");
    expect(await open().acquire("thread", "another", 60_000)).toBeNull();
    const later = open({ now: () => Date.now() + 1e9 });
    expect(await later.acquire("thread", "another", 60_000)).not.toBeNull();
  });

  test("is free at once when the worker thread that has it ended", async () => {
    open();
    const worker = new Worker(new URL("holder.ts", import.meta.url), { argv: [kind, place()] });
    await once(worker, "message");
    const store = open();
    expect(await store.acquire("thread", "another", 60_000)).toBeNull();
    await worker.terminate();
    expect(await store.acquire("thread", "another", 60_000)).not.toBeNull();
  });

  test("counts by its time alone if its lock can't be looked at, or is no lock", async () => {
    const child = await holder();
    const [name = ""] = locks();
    const lock = join(folder, name);
    await killed(child);
    rmSync(lock);
    writeFileSync(lock, "something else, which is no database");
    expect(await open().acquire("thread", "another", 60_000)).toBeNull();
    expect(locks()).toEqual([name]);
  });

  test("leaves no lock of a process that died without a lease", async () => {
    await killed(await holder());
    await open().acquire("a third thread", "another", 60_000);
    expect(locks()).toHaveLength(1);
  });
});

test("the leases of a store that was moved while its process was dead are free", async () => {
  const child = fork(new URL("holder.ts", import.meta.url), ["files", join(folder, "threads")]);
  children.push(child);
  await once(child, "message");
  child.kill("SIGKILL");
  await once(child, "exit");
  renameSync(join(folder, "threads"), join(folder, "moved"));
  const store = storeAt("files", join(folder, "moved"));
  opened.push(store);
  expect(await store.acquire("thread", "another", 60_000)).not.toBeNull();
});
