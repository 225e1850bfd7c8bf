import { type Lease, LeaseLostError } from "@colloquy/host/store";
import type { Store } from "@colloquy/host";
import { expect } from "vitest";
import {
  append,
  begun,
  entriesFrom,
  entryOf,
  lostLeases,
  take,
  write,
  startOf,
  writeEntries,
} from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";
import type { Entry } from "@colloquy/machine";

/** Checks that a store returns the newest saved snapshot or none. Stores do not read its content. */
export const snapshotChecks: StoreChecks = {
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
  "keeps a snapshot, and shows it to every reader": async ({ store, another, reopen }) => {
    const lease = await begun(store, entriesFrom(0, 2));
    expect(await store.readSnapshot("thread")).toBeNull();
    await save(store, lease, "head 2", { "turns/1-64": "first", "turns/65": "second" });
    const kept = { head: "head 2", "turns/1-64": "first", "turns/65": "second", nowhere: undefined };
    expect(await snapshotIn(store, ...Object.keys(kept))).toEqual(kept);
    expect(await snapshotIn(await another(), ...Object.keys(kept))).toEqual(kept);
    expect(await snapshotIn(await reopen(), ...Object.keys(kept))).toEqual(kept);
  },
  "gives the chunks of a snapshot, one by one or all the rest": async ({ store }) => {
    const lease = await begun(store, [entryOf(0)]);
    const chunks: Readonly<Record<string, string>> = { a: "A", "b.1": "B", c: "", d: "D" };
    await save(store, lease, "head", chunks);
    const found = await store.readSnapshot("thread");
    const chunk = (id: string): string | undefined => found?.chunk(id);
    await found?.fetch?.("b.1");
    expect(chunk("b.1")).toBe("B");
    await found?.fetch?.("nowhere");
    await found?.fetch?.("c");
    expect(["b.1", "c", "nowhere"].map(chunk)).toEqual(["B", "", undefined]);
    await found?.fetch?.(null);
    expect([...Object.keys(chunks), "nowhere"].map(chunk)).toEqual([...Object.values(chunks), undefined]);
    // Another reader finds all chunks although it never saved any.
    expect(await snapshotIn(store, "d", "a")).toEqual({ head: "head", d: "D", a: "A" });
  },
  "keeps the newest snapshot, with the chunks of those before that were not dropped": async ({ store }) => {
    const lease = await begun(store, entriesFrom(0, 2));
    await save(store, lease, "one", { a: "A", b: "B" });
    await save(store, lease, "two", { c: "C", d: "D" }, ["b", "never there"]);
    const second = { head: "two", a: "A", b: undefined, c: "C", d: "D" };
    expect(await snapshotIn(store, "a", "b", "c", "d")).toEqual(second);
    await save(store, lease, "three", {}, ["a", "c", "d"]);
    const third = { head: "three", a: undefined, b: undefined, c: undefined, d: undefined };
    expect(await snapshotIn(store, "a", "b", "c", "d")).toEqual(third);
  },
  "gives back what a snapshot says, exactly": async ({ store, reopen }) => {
    const lease = await begun(store, [entryOf(0)]);
    const head = JSON.stringify({ "\0": "\ud800 🙂 é \u2028", quote: `'"\\%_`, list: [0.1, -1e-7, null] });
    const chunk = JSON.stringify(["five megabytes, é 🙂 ".repeat(200_000)]);
    const id = "1-64 'x' é/../%_";
    await save(store, lease, head, { [id]: chunk, "1-64": "", "": "no name" });
    const comesBack = async (each: Store): Promise<void> => {
      const found = await each.readSnapshot("thread");
      await found?.fetch?.(null);
      expect(found?.head).toBe(head);
      // Compared as one boolean, because a failing comparison would print 5 MB.
      expect(found?.chunk(id) === chunk).toBe(true);
      expect(found?.chunk("1-64")).toBe("");
      expect(found?.chunk("")).toBe("no name");
    };
    await comesBack(store);
    await comesBack(await reopen());
  },
  "keeps the snapshots of different threads apart, and the journal beside them": async ({ store }) => {
    for (const threadId of ["one", "other", "neither"]) await write(store, threadId, 2);
    for (const threadId of ["one", "other"]) {
      const lease = await take(store, threadId);
      await save(store, lease, `head of ${threadId}`, { chunk: `chunk of ${threadId}` });
      await append(store, lease, 1, [entryOf(2)]);
    }
    expect(await snapshotIn(store, "chunk")).toBeNull();
    expect(await snapshotOf(store, "one", "chunk")).toEqual({ head: "head of one", chunk: "chunk of one" });
    expect(await snapshotOf(store, "other", "chunk")).toEqual({ head: "head of other", chunk: "chunk of other" });
    expect(await store.readSnapshot("neither")).toBeNull();
    expect(await store.read("one")).toEqual(entriesFrom(0, 2));
  },
  "saves no snapshot under a lease that is not in force": async (subject) => {
    const { store } = subject;
    await write(store, "thread", 2);
    const lease = await take(store, "thread");
    await save(store, lease, "sound", { a: "A" });
    await store.release(lease);
    for (const [fate, lost] of Object.entries(await lostLeases(subject, "thread"))) {
      const saving = save(store, lost, fate, { b: fate }, ["a"]);
      await expect(saving).rejects.toBeInstanceOf(LeaseLostError);
    }
    expect(await snapshotIn(store, "a")).toEqual({ head: "sound", a: "A" });
  },
  "drops a snapshot when the journal is rewritten": async ({ store, another }) => {
    const lease = await begun(store, entriesFrom(0, 2));
    await save(store, lease, "old", { a: "A" });
    const reader = await store.readSnapshot("thread");
    const late = await store.readSnapshot("thread");
    await reader?.fetch?.("a");
    await store.rewrite(lease, [entryOf(1, { rewritten: true })]);
    expect(await store.readSnapshot("thread")).toBeNull();
    expect(await (await another()).readSnapshot("thread")).toBeNull();
    // A reader of the old snapshot gets the old text or nothing, never another text.
    expect([undefined, "A"]).toContain(reader?.chunk("a"));
    await save(store, lease, "new", { b: "B" });
    await late?.fetch?.(null);
    expect([undefined, "A"]).toContain(late?.chunk("a"));
    expect(await snapshotIn(store, "a", "b")).toEqual({ head: "new", a: undefined, b: "B" });
  },
  "drops a snapshot with its thread": async ({ store, reopen }) => {
    const lease = await begun(store, entriesFrom(0, 2));
    await save(store, lease, "old", { a: "A" });
    await store.delete("thread");
    const late = save(store, lease, "late", { b: "B" });
    await expect(late).rejects.toBeInstanceOf(LeaseLostError);
    const later = await reopen();
    await write(later, "thread", 1);
    expect(await later.readSnapshot("thread")).toBeNull();
    await save(later, await take(later, "thread"), "new", {});
    expect(await snapshotIn(later, "a", "b")).toEqual({ head: "new", a: undefined, b: undefined });
  },
};

const save = (
  store: Store,
  lease: Lease,
  head: string,
  chunks: Readonly<Record<string, string>>,
  dropped: readonly string[] = [],
): Promise<void> =>
  store.saveSnapshot(lease, {
    threadId: lease.threadId,
    seq: 0,
    head,
    chunks: new Map(Object.entries(chunks)),
    dropped,
  });

const snapshotIn = (store: Store, ...ids: readonly string[]): ReturnType<typeof snapshotOf> =>
  snapshotOf(store, "thread", ...ids);

const snapshotOf = async (
  store: Store,
  threadId: string,
  ...ids: readonly string[]
): Promise<Readonly<Record<string, string | undefined>> | null> => {
  const found = await store.readSnapshot(threadId);
  if (found === null) return null;
  await found.fetch?.(null);
  const chunks = ids.filter((id) => id !== "head").map((id): [string, string | undefined] => [id, found.chunk(id)]);
  return { head: found.head, ...Object.fromEntries(chunks) };
};
