import { LeaseLostError } from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";
import { expect } from "vitest";

import {
  append,
  begun,
  entriesFrom,
  entryOf,
  lostLeases,
  startOf,
  take,
  write,
  writeEntries,
} from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

/** Checks that a rewrite replaces existing entries, and does nothing else. */
export const rewriteChecks: StoreChecks = {
  "rewrites the entries that it is given, and no other": async ({ store, another, reopen }) => {
    await write(store, "other", 4);
    const lease = await begun(store, entriesFrom(0, 5));
    const rewritten = [entryOf(4, { rewritten: "é 🙂 \ud800" }), entryOf(2, { rewritten: true })];
    await store.rewrite(lease, rewritten);
    const journal = [entryOf(0), entryOf(1), rewritten[1], entryOf(3), rewritten[0], entryOf(5)];
    expect(await store.read("thread")).toEqual(journal);
    expect(await (await another()).read("thread", 4)).toEqual(journal.slice(4));
    await append(store, lease, 5, [entryOf(6)]);
    await store.rewrite(lease, []);
    const later = await reopen();
    expect(await later.read("thread")).toEqual([...journal, entryOf(6)]);
    expect(await later.read("other")).toEqual(entriesFrom(0, 3));
  },
  "rewrites the first entry and the newest, and lists by what they say now": async ({ store }) => {
    await writeEntries(store, "thread", [
      startOf(10, { user: "ada" }),
      { seq: 1, event: { type: "metadata.changed", at: 20, metadata: { user: "grace" } } },
    ]);
    const lease = await take(store, "thread");
    await store.rewrite(lease, [
      { seq: 1, event: { type: "metadata.changed", at: 20, metadata: {} }, redacted: true },
      { seq: 0, format: 2, event: { type: "thread.started", at: 10, threadId: "any" }, redacted: true },
    ]);
    const listed = { threadId: "thread", seq: 1, createdAt: 10, updatedAt: 20, metadata: {} };
    expect(await store.list()).toEqual({ threads: [listed], next: null });
  },
  "rewrites all of what it is given or nothing, and refuses a seq that is not there": async ({ store }) => {
    const lease = await begun(store, entriesFrom(0, 2));
    for (const seq of [3, -1, 1.5]) {
      const stranger: Entry = { seq, event: { type: "checkpoint.named", at: 1, name: "stranger" } };
      await expect(store.rewrite(lease, [entryOf(1, { rewritten: true }), stranger])).rejects.toThrow(RangeError);
      await expect(store.rewrite(lease, [stranger])).rejects.toThrow(String(seq));
    }
    expect(await store.read("thread")).toEqual(entriesFrom(0, 2));
    const empty = await take(store, "empty");
    await expect(store.rewrite(empty, [entryOf(0)])).rejects.toBeInstanceOf(RangeError);
    expect(await store.read("empty")).toEqual([]);
  },
  "rewrites nothing under a lease that is not in force": async (subject) => {
    const { store } = subject;
    await write(store, "thread", 3);
    for (const [fate, lease] of Object.entries(await lostLeases(subject, "thread")))
      await expect(store.rewrite(lease, [entryOf(1, { fate })])).rejects.toBeInstanceOf(LeaseLostError);
    expect(await store.read("thread")).toEqual(entriesFrom(0, 2));
  },
  "is not changed by what is done to an entry after it was rewritten": async ({ store }) => {
    const lease = await begun(store, entriesFrom(0, 1));
    const metadata = { note: "mine" };
    const rewriting = store.rewrite(lease, [entryOf(1, metadata)]);
    metadata.note = "disturbed";
    await rewriting;
    expect(await store.read("thread", 1)).toEqual([entryOf(1, { note: "mine" })]);
  },
};
