import type { Entry } from "@colloquy/machine";
import { memoryStore } from "@colloquy/host";
import { LeaseLostError, type PartBatch } from "@colloquy/host/store";
import { expect, test } from "vitest";
import { errorOf, manualClock } from "../stage.ts";

const started: Entry = { seq: 0, format: 2, event: { type: "thread.started", at: 5, threadId: "t" } };
const changed = (note: unknown): Entry => {
  // A caller in JavaScript may give any value.
  const metadata = { note } as { readonly note: string };
  return { seq: 1, event: { type: "metadata.changed", at: 7, metadata } };
};

/** Makes a store in which an owner has the thread "t" for a second. */
const leased = async () => {
  const clock = manualClock();
  const store = memoryStore({ clock });
  const lease = await store.acquire("t", "me", 1_000);
  if (lease === null) throw new Error("no lease");
  return { clock, store, lease };
};

const frozen = (entry: Entry): Entry => {
  if (entry.event.type === "metadata.changed") Object.freeze(entry.event.metadata);
  Object.freeze(entry.event);
  return Object.freeze(entry);
};

test("a memory store lists no thread to which nothing was appended", async () => {
  const { store, lease } = await leased();
  await store.append(lease, -1, []);
  expect((await store.list()).threads).toEqual([]);
  await store.append(lease, -1, [started]);
  expect((await store.list()).threads).toEqual([{ threadId: "t", seq: 0, createdAt: 5, updatedAt: 5, metadata: {} }]);
});

test.each([false, true])(
  "a memory store refuses an entry that is not JSON when it is appended (frozen: %s)",
  async (isFrozen) => {
    const { store, lease } = await leased();
    await store.append(lease, -1, [started]);
    const odd = isFrozen ? frozen(changed(1n)) : changed(1n);
    expect(await errorOf(Promise.resolve(store.append(lease, 0, [odd])))).toBeInstanceOf(TypeError);
    expect(await store.read("t")).toEqual([started]);
  },
);

test("a memory store keeps an entry as it was appended, even if only a part of it was frozen", async () => {
  const { store, lease } = await leased();
  const deep = { text: "before" };
  const entry = changed(deep);
  Object.freeze(entry.event);
  await store.append(lease, -1, [started, Object.freeze(entry)]);
  deep.text = "after";
  expect(await store.read("t", 1)).toEqual([changed({ text: "before" })]);
  expect((await store.list()).threads).toMatchObject([{ updatedAt: 7, metadata: { note: { text: "before" } } }]);
});

test("a memory store gives a copy of a frozen entry to each reader", async () => {
  const { store, lease } = await leased();
  const entry = frozen(changed("x"));
  await store.append(lease, -1, [frozen({ ...started }), entry]);
  const [[first], [second]] = [await store.read("t", 1), await store.read("t", 1)];
  expect([first, second]).toEqual([entry, entry]);
  expect(first).not.toBe(second);
});

test("a lease of a memory store is in force until its last millisecond, and then it is abandoned", async () => {
  const { clock, store, lease } = await leased();
  await clock.advance(999);
  expect([await store.acquire("t", "other", 1), await store.abandoned()]).toEqual([null, []]);
  await store.append(lease, -1, [started]);
  await clock.advance(1);
  expect(await store.abandoned()).toEqual(["t"]);
  expect(await errorOf(Promise.resolve(store.append(lease, 0, [changed("x")])))).toBeInstanceOf(LeaseLostError);
  expect(await store.acquire("t", "other", 1)).toEqual({ threadId: "t", owner: "other", token: 2 });
});

test("a memory store drops a batch of parts when its time is over, and reads those after a place", async () => {
  const { clock, store, lease } = await leased();
  const at = clock.now();
  const batch = (number: number, turn: number, until: number): PartBatch => ({ number, turn, body: "[]", at, until });
  for (const each of [batch(0, 1, at + 10), batch(1, 2, at + 20)]) await store.parts?.append(lease, each);
  const again = await store.acquire("t", "me", 1_000);
  if (again === null) throw new Error("no lease");
  await store.parts?.append(again, batch(0, 2, at + 20));
  const read = async (later: number, after: { token: number; number: number } | null, turn?: number) => {
    const batches = await store.parts?.read("t", { at: at + later, after, ...(turn === undefined ? {} : { turn }) });
    return batches?.map(({ token, number }) => `${token}.${number}`);
  };
  expect(await read(9, null)).toEqual(["1.0", "1.1", "2.0"]);
  expect(await read(10, null)).toEqual(["1.1", "2.0"]);
  expect(await read(0, { token: 1, number: 0 })).toEqual(["1.1", "2.0"]);
  expect(await read(0, { token: 1, number: 1 })).toEqual(["2.0"]);
  expect(await read(0, { token: 2, number: 0 })).toEqual([]);
  expect(await read(0, null, 1)).toEqual(["1.0"]);
  expect(await read(20, null)).toEqual([]);
});
