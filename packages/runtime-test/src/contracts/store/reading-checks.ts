import { LeaseLostError } from "@colloquy/host/store";
import { expect } from "vitest";

import { append, begun, entriesFrom, entryOf, take, write } from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

/** Checks of what readers find: entries and threads, and nothing that was deleted. */
export const readingChecks: StoreChecks = {
  "reads from a seq on, in order": async ({ store }) => {
    await write(store, "thread", 12);
    expect(await store.read("thread", 0)).toEqual(entriesFrom(0, 11));
    expect(await store.read("thread", 9)).toEqual(entriesFrom(9, 11));
    expect(await store.read("thread", 11)).toEqual([entryOf(11)]);
    expect(await store.read("thread", 12)).toEqual([]);
  },
  "finds nothing in a thread that is not there": async ({ store }) => {
    expect(await store.read("thread")).toEqual([]);
    expect(await store.read("thread", 3)).toEqual([]);
    expect(await store.delete("thread")).toBe(false);
    expect(await store.list()).toEqual({ threads: [], next: null });
  },
  "deletes a thread, and no other": async ({ store, reopen }) => {
    const others = ["a", "abc", "a%", "a_", "A"];
    for (const threadId of ["ab", ...others]) await write(store, threadId, 3);
    expect(await store.delete("ab")).toBe(true);
    expect(await store.delete("ab")).toBe(false);
    const later = await reopen();
    expect(await later.read("ab")).toEqual([]);
    expect(await later.read("ab", 2)).toEqual([]);
    const { threads } = await later.list();
    expect(threads.map(({ threadId }) => threadId).sort()).toEqual([...others].sort());
    for (const threadId of others) expect(await later.read(threadId)).toEqual(entriesFrom(0, 2));
  },
  "lets no holder of an old lease bring back a deleted thread": async ({ store }) => {
    const old = await begun(store, entriesFrom(0, 2), "first");
    await store.delete("thread");
    await expect(append(store, old, 2, [entryOf(3)])).rejects.toBeInstanceOf(LeaseLostError);
    await expect(append(store, old, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
    expect(await store.renew(old, 1000)).toBe(false);
    const lease = await take(store, "thread", "second");
    await expect(append(store, old, -1, [entryOf(0)])).rejects.toBeInstanceOf(LeaseLostError);
    await append(store, lease, -1, [entryOf(0, { again: true })]);
    expect(await store.read("thread")).toEqual([entryOf(0, { again: true })]);
  },
  "keeps journals when it is closed, and may be closed twice": async ({ store, reopen }) => {
    await write(store, "thread", 3);
    const later = await reopen();
    expect(await later.read("thread")).toEqual(entriesFrom(0, 2));
    await later.close();
    await later.close();
  },
};
