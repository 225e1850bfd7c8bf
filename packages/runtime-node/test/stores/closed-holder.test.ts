// A lease ends when the store that took it is closed, and not before.
import { globSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Store } from "@colloquy/host";
import { LeaseLostError } from "@colloquy/host/store";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { ProcessLock } from "../../src/stores/process-lock.ts";
import { said, take } from "./journal.ts";
import { storeAt } from "./kinds.ts";
import { newFolder } from "./folder.ts";

let folder: string;
const opened: Store[] = [];
beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
});

describe.each(["sqlite", "files"])("a lease of a %s store", (kind) => {
  const place = (): string => join(folder, kind === "files" ? "threads" : "threads.db");
  const open = (): Store => {
    const store = storeAt(kind, place());
    opened.push(store);
    return store;
  };
  const write = (sql: string): void => {
    const database = new DatabaseSync(kind === "files" ? join(place(), "threads.db") : place());
    database.exec(sql);
    database.close();
  };
  const locks = (): readonly string[] => globSync("**/*-holder-*", { cwd: folder });

  test("is fenced: what its process wrote under it is refused after another took it", async () => {
    const first = open();
    const lease = await take(first, "thread", "first");
    await first.append(lease, -1, [said(0, "first")]);
    // The system may have dropped the lock of a process that still writes.
    for (const name of locks()) rmSync(join(folder, name));
    const next = await take(open(), "thread", "second");
    expect(next.token).toBeGreaterThan(lease.token);
    await expect(async () => first.append(lease, 0, [said(1, "late")])).rejects.toBeInstanceOf(LeaseLostError);
    expect(await first.renew(lease, 60_000)).toBe(false);
  });

  test("is free at once when its store was closed, and not while another store of the same process has it", async () => {
    const [first, second] = [open(), open()];
    await take(first, "thread", "first");
    await take(second, "another thread", "second");
    expect(await second.acquire("thread", "second", 60_000)).toBeNull();
    expect(await first.acquire("another thread", "first", 60_000)).toBeNull();
    await first.close();
    expect(await second.acquire("thread", "second", 60_000)).not.toBeNull();
    expect(locks()).toHaveLength(1);
  });

  test("leaves its thread abandoned when its store is closed, unless it was released or its holder had no lock", async () => {
    const [first, second] = [open(), open()];
    await take(first, "thread", "first");
    await first.release(await take(first, "released", "first"));
    await take(second, "another thread", "second");
    await take(second, "without a lock", "second");
    write("UPDATE leases SET holder = NULL WHERE thread = 'without a lock'");
    expect(await second.abandoned()).toEqual([]);
    expect(await first.abandoned()).toEqual([]);
    await first.close();
    expect(await second.abandoned()).toEqual(["thread"]);
    const third = open();
    await second.close();
    expect([...(await third.abandoned())].sort()).toEqual(["another thread", "thread"]);
    expect(await third.acquire("without a lock", "third", 60_000)).toBeNull();
  });

  test("counts by its time alone if its lock is a folder or another file, and is free if the lock is not held", async () => {
    const store = open();
    await take(store, "thread", "first");
    const [lock = ""] = locks();
    const name = (digit: number): string => lock.replace(/.{12}$/, String(digit).repeat(12));
    const holders = { folder: name(1), other: name(2), unheld: name(3), missing: name(4) };
    mkdirSync(join(folder, holders.folder));
    writeFileSync(join(folder, holders.other), "something else, which is not a database");
    for (const [threadId, holder] of Object.entries(holders)) {
      await take(store, threadId, "first");
      write(`UPDATE leases SET holder = '${/.{36}$/.exec(holder)?.[0]}' WHERE thread = '${threadId}'`);
    }
    writeFileSync(join(folder, holders.unheld), "");
    const other = open();
    expect([...(await other.abandoned())].sort()).toEqual(["missing", "unheld"]);
    expect([...locks()].sort()).toEqual([lock, holders.folder, holders.other].sort());
    for (const threadId of ["thread", "folder", "other"])
      expect(await other.acquire(threadId, "second", 60_000)).toBeNull();
    for (const threadId of ["missing", "unheld"])
      expect(await other.acquire(threadId, "second", 60_000)).not.toBeNull();
  });

  test("leaves no lock of a store that died without a lease, once another takes one", async () => {
    const store = open();
    await take(store, "thread", "first");
    const [lock = ""] = locks();
    writeFileSync(join(folder, lock.replace(/.{12}$/, "1".repeat(12))), "");
    await take(store, "another thread", "first");
    expect(locks()).toHaveLength(2);
    await take(open(), "a third thread", "second");
    expect(locks()).toHaveLength(2);
    expect(locks()).toContain(lock);
  });

  test("gets a new lock when the file of the old one is gone", async () => {
    const store = open();
    await take(store, "one", "first");
    for (const name of locks()) rmSync(join(folder, name));
    await take(store, "two", "first");
    expect(locks()).toHaveLength(1);
    expect(await open().acquire("two", "second", 60_000)).toBeNull();
  });

  test("makes no lock until it is taken", async () => {
    const store = open();
    expect(await store.read("thread")).toEqual([]);
    expect((await store.list()).threads).toEqual([]);
    expect(locks()).toEqual([]);
  });

  test("leads to no file outside of the store, whatever the store says who holds it", async () => {
    const other = join(folder, "other.db");
    new DatabaseSync(other).close();
    writeFileSync(other, "");
    const store = open();
    await take(store, "thread", "first");
    write("UPDATE leases SET holder = '/../other.db'");
    expect(await open().acquire("thread", "second", 60_000)).toBeNull();
    expect(globSync("other.db", { cwd: folder })).toEqual(["other.db"]);
  });
});

test("a store that no other process can use takes every holder for alive", () => {
  expect(new ProcessLock(null).isHeld(crypto.randomUUID())).toBe(true);
});

test("a lock may be closed twice, and another is made when one is needed again", () => {
  const lock = new ProcessLock(join(folder, "threads.db-holder-"));
  const first = lock.name;
  lock.close();
  lock.close();
  expect(lock.name).toMatch(/^[0-9a-f-]{36}$/);
  expect(lock.name).not.toBe(first);
  lock.close();
});

test("a lock that can't be made is none, and nothing is thrown", () => {
  const lock = new ProcessLock(join(folder, "nowhere", "threads.db-holder-"));
  expect(lock.name).toBeNull();
  expect(lock.isHeld(null)).toBe(true);
  lock.close();
});
