import type { ListOptions, Store, ThreadPage } from "@colloquy/host";
import type { Entry, JsonObject } from "@colloquy/machine";
import * as fc from "fast-check";
import { expect } from "vitest";

import { append, entryOf, startOf, take, write, writeEntries } from "./sample-entries.ts";
import type { StoreChecks } from "./subject.ts";

export const listingChecks: StoreChecks = {
  "lists each thread with its newest seq, its times and its metadata": async ({ store, another }) => {
    const metadata: JsonObject = { user: "ada", tags: ["a", { b: null }], "": 1, emoji: "🙂 \ud800" };
    await writeEntries(store, "thread", [startOf(1000, metadata), entryOf(1)]);
    const lease = await take(store, "thread");
    await append(store, lease, 1, [entryAt(2, 5000.5)]);
    const listed = { threadId: "thread", seq: 2, createdAt: 1000, updatedAt: 5000.5, metadata };
    expect(await store.list()).toEqual({ threads: [listed], next: null });
    await append(store, lease, 2, [
      { seq: 3, event: { type: "metadata.changed", at: 6000, metadata: { user: "grace" } } },
    ]);
    const changed = { ...listed, seq: 3, updatedAt: 6000, metadata: { user: "grace" } };
    expect(await (await another()).list()).toEqual({ threads: [changed], next: null });
  },
  "lists threads newest or oldest first, those of one time by the code points of their ids": async ({ store }) => {
    for (const threadId of ["b", "a", "ab", "B", "10", "9", "\uffee", "🙂", "é"]) await write(store, threadId, 1);
    await writeEntries(store, "before", [startOf(-5)]);
    await writeEntries(store, "after", [startOf(1e12)]);
    const oldest = ["before", "10", "9", "B", "a", "ab", "b", "é", "\uffee", "🙂", "after"];
    expect(idsOf(await store.list({ order: "oldest" }))).toEqual(oldest);
    expect(idsOf(await store.list())).toEqual(oldest.toReversed());
    expect(idsOf(await store.list({ order: "newest" }))).toEqual(oldest.toReversed());
  },
  "gives pages of the size that is wanted, and says when there is no other": async ({ store }) => {
    for (let at = 1; at <= 5; at += 1) await writeEntries(store, `t${at}`, [startOf(at)]);
    const first = await store.list({ limit: 2 });
    expect(idsOf(first)).toEqual(["t5", "t4"]);
    const second = await store.list({ limit: 2, ...after(first) });
    expect(idsOf(second)).toEqual(["t3", "t2"]);
    expect(await store.list({ limit: 2, ...after(second) })).toMatchObject({
      threads: [{ threadId: "t1" }],
      next: null,
    });
    // The last page is full, and still has no next one.
    expect((await store.list({ limit: 5 })).next).toBeNull();
    expect((await store.list({ limit: 3, ...after(first) })).next).toBeNull();
    expect(idsOf(await store.list({ order: "oldest", limit: 1 }))).toEqual(["t1"]);
    expect(idsOf(await store.list({ limit: 1e9 }))).toHaveLength(5);
  },
  "gives 100 threads where nobody says how many": async ({ store }) => {
    for (let count = 0; count < 101; count += 1) await writeEntries(store, `t${count}`, [startOf(count)]);
    const page = await store.list();
    expect(page.threads).toHaveLength(100);
    expect(idsOf(await store.list(after(page)))).toEqual(["t0"]);
  },
  "shows each thread once, in order, to a reader of the pages while others write": async ({ fresh }) => {
    await fc.assert(
      fc.asyncProperty(walks, async ({ begin, limit, order, meanwhile }) => {
        const { store } = await fresh();
        for (const { threadId, at } of begin) await writeEntries(store, threadId, [startOf(at)]);
        const untouched = new Set(begin.map(({ threadId }) => threadId));
        const seen: string[] = [];
        const changes = [...meanwhile];
        for (let next: string | null | undefined; next !== null && seen.length < 100;) {
          const page: ThreadPage = await store.list({ limit, order, ...(next !== undefined && { after: next }) });
          seen.push(...idsOf(page));
          next = page.next;
          const change = changes.shift();
          if (change !== undefined) await apply(store, change, untouched);
        }
        expect(new Set(seen).size).toBe(seen.length);
        const expected = idsOf(await store.list({ order, limit: 1000 })).filter((id) => untouched.has(id));
        expect(seen.filter((id) => untouched.has(id))).toEqual(expected);
        await store.close();
      }),
      // However few cases other properties try: with fewer, some seeds miss pages by number.
      { numRuns: 20 },
    );
  },
  "keeps a cursor good though its thread is gone, and for either order": async ({ store }) => {
    for (let at = 1; at <= 4; at += 1) await writeEntries(store, `t${at}`, [startOf(at)]);
    const page = await store.list({ limit: 2 });
    await store.delete("t3");
    expect(idsOf(await store.list(after(page)))).toEqual(["t2", "t1"]);
    expect(idsOf(await store.list({ order: "oldest", ...after(page) }))).toEqual(["t4"]);
  },
  "lists those that have the metadata that is wanted, each member equal": async ({ store }) => {
    const threads: readonly (readonly [string, JsonObject | undefined])[] = [
      ["none", undefined],
      ["ada", { user: "ada", team: { name: "a", size: 2 } }],
      ["bob", { user: "bob", team: { size: 2, name: "a" } }],
      ["null", { user: null }],
      ["number", { user: 1, __proto__key: true }],
      ["text", { user: "1" }],
    ];
    for (const [threadId, metadata] of threads) await writeEntries(store, threadId, [startOf(0, metadata)]);
    const having = async (metadata: JsonObject): Promise<readonly string[]> =>
      idsOf(await store.list({ metadata, order: "oldest" }));
    expect(await having({ user: "ada" })).toEqual(["ada"]);
    expect(await having({ team: { size: 2, name: "a" } })).toEqual(["ada", "bob"]);
    expect(await having({ team: { size: 2 } })).toEqual([]);
    expect(await having({ user: "bob", team: { name: "a", size: 2 } })).toEqual(["bob"]);
    expect(await having({ user: null })).toEqual(["null"]);
    expect(await having({ user: 1 })).toEqual(["number"]);
    expect(await having({ "user'\" OR 1=1 --": 1 })).toEqual([]);
    expect(await having({})).toHaveLength(threads.length);
  },
  "lists those that were made or changed in a time, its end not included": async ({ store }) => {
    for (let at = 1; at <= 4; at += 1) await writeEntries(store, `t${at}`, [startOf(at)]);
    await writeEntries(store, "t1", [entryAt(1, 100)]);
    await writeEntries(store, "t3", [entryAt(1, 50)]);
    const within = async (options: ListOptions): Promise<readonly string[]> =>
      idsOf(await store.list({ ...options, order: "oldest" }));
    expect(await within({ created: { from: 2 } })).toEqual(["t2", "t3", "t4"]);
    expect(await within({ created: { until: 2 } })).toEqual(["t1"]);
    expect(await within({ created: { from: 2, until: 4 } })).toEqual(["t2", "t3"]);
    expect(await within({ updated: { from: 4 } })).toEqual(["t1", "t3", "t4"]);
    expect(await within({ updated: { from: 50, until: 100 } })).toEqual(["t3"]);
    expect(await within({ created: { until: 3 }, updated: { from: 50 } })).toEqual(["t1"]);
    expect(await within({ created: { from: 9 } })).toEqual([]);
  },
  "fills its pages where few threads are wanted": async ({ store }) => {
    for (let at = 1; at <= 40; at += 1) await writeEntries(store, `t${at}`, [startOf(at, { rare: at % 13 === 0 })]);
    const first = await store.list({ limit: 2, metadata: { rare: true } });
    expect(idsOf(first)).toEqual(["t39", "t26"]);
    const second = await store.list({ limit: 2, metadata: { rare: true }, ...after(first) });
    expect(second).toMatchObject({ threads: [{ threadId: "t13" }], next: null });
    expect((await store.list({ limit: 3, metadata: { rare: true } })).next).toBeNull();
  },
  "refuses options of a listing that are invalid": async ({ store }) => {
    for (const limit of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(store.list({ limit })).rejects.toThrow(new RegExp(`limit must be .* \\(got ${limit}\\)`));
    for (const cursor of ["", "t1", "[]", '["a","b"]', "{"]) {
      await expect(store.list({ after: cursor })).rejects.toBeInstanceOf(RangeError);
    }
    // An invalid option that JavaScript may pass.
    const sideways = { order: "sideways" } as unknown as ListOptions;
    await expect(store.list(sideways)).rejects.toThrow(/order must be .* \(got "sideways"\)/);
    await expect(store.list({ created: { from: Number.NaN } })).rejects.toThrow(/created: from must be .* \(got NaN\)/);
  },
};

const idsOf = ({ threads }: ThreadPage): readonly string[] => threads.map(({ threadId }) => threadId);

const after = ({ next }: ThreadPage): ListOptions => {
  if (next === null) throw new Error("there should have been a page after this one");
  return { after: next };
};

const entryAt = (seq: number, at: number): Entry => ({
  seq,
  event: { type: "checkpoint.named", at, name: "here" },
});

type Change =
  | { readonly type: "add"; readonly threadId: string; readonly at: number }
  | { readonly type: "append" | "delete"; readonly which: number };

/** Makes a change, as another process would. `untouched` are the threads that existed on the first page. */
const apply = async (store: Store, change: Change, untouched: Set<string>): Promise<void> => {
  if (change.type === "add") {
    if ((await store.read(change.threadId)).length > 0) return;
    await writeEntries(store, change.threadId, [startOf(change.at)]);
    return;
  }
  const threadId = [...untouched][change.which % Math.max(untouched.size, 1)];
  if (threadId === undefined) return;
  if (change.type === "append") {
    const seq = (await store.read(threadId)).length;
    await writeEntries(store, threadId, [entryAt(seq, 1000)]);
    return;
  }
  await store.delete(threadId);
  untouched.delete(threadId);
};

const anyId = fc.string({ unit: "grapheme", minLength: 1, maxLength: 3 }).map((id) => id.replaceAll("\0", "0"));
const anyTime = fc.integer({ min: 0, max: 4 });

const walks = fc.record({
  begin: fc.uniqueArray(fc.record({ threadId: anyId, at: anyTime }), {
    maxLength: 12,
    selector: ({ threadId }) => threadId,
  }),
  limit: fc.integer({ min: 1, max: 5 }),
  order: fc.constantFrom("newest" as const, "oldest" as const),
  meanwhile: fc.array(
    fc.oneof(
      fc.record({ type: fc.constant("add" as const), threadId: anyId, at: anyTime }),
      fc.record({ type: fc.constantFrom("append" as const, "delete" as const), which: fc.nat(12) }),
    ),
    { maxLength: 8 },
  ),
});
