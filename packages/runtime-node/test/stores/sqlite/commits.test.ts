import { join } from "node:path";
import { DatabaseSync, StatementSync } from "node:sqlite";

import { type Lease, LeaseLostError, SequenceConflictError } from "@colloquy/host/store";
import { expect, onTestFinished, test, vi } from "vitest";

import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "../folder.ts";
import { said, take } from "../journal.ts";

test("a thread that writes alone has written when append returns", async () => {
  const { store, leases } = await opened(1);
  const [lease] = leases;
  for (const seq of [1, 2, 3]) expect(lease && store.append(lease, seq - 1, [said(seq)])).toBeUndefined();
  expect(await store.read("t0")).toHaveLength(4);
});

test("appends of several threads in one turn of the event loop are one commit", async () => {
  const { store, leases } = await opened(5);
  // oxlint-disable-next-line typescript/unbound-method -- it is applied to its statement.
  const { run } = StatementSync.prototype;
  const done: (string | undefined)[] = [];
  vi.spyOn(StatementSync.prototype, "run").mockImplementation(function (this: StatementSync, ...values) {
    done.push(this.sourceSQL.split(" ")[0]);
    return run.apply(this, values);
  });
  await Promise.all(leases.map((lease) => appendTo(store, lease, 1)));
  vi.restoreAllMocks();
  expect(done).toEqual(["INSERT", "BEGIN", "INSERT", "INSERT", "INSERT", "INSERT", "COMMIT"]);
  for (const { threadId } of leases) expect(await store.read(threadId)).toHaveLength(2);
});

test("an append that waits is not stored before its promise resolves, and those of one thread keep their order", async () => {
  const { store, leases, other } = await opened(2);
  const waiting = [
    appendTo(store, leases[0], 1),
    appendTo(store, leases[1], 1),
    appendTo(store, leases[0], 2),
    appendTo(store, leases[1], 2),
  ];
  expect(countIn(other)).toBe(3);
  await Promise.all(waiting);
  expect(countIn(other)).toBe(6);
});

test("an append that is refused leaves those that wait with it", async () => {
  const { store, leases } = await opened(5);
  const appends = leases.map((lease, index) => appendTo(store, lease, index === 2 ? 7 : 1));
  // Its lease is deleted with it.
  await store.delete("t3");
  const results = await Promise.allSettled(appends);
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected", "fulfilled"]);
  expect(results[2]).toMatchObject({ reason: expect.any(SequenceConflictError) });
  expect(results[3]).toMatchObject({ reason: expect.any(LeaseLostError) });
  for (const threadId of ["t0", "t1", "t4"]) expect(await store.read(threadId)).toHaveLength(2);
  expect(await store.read("t2")).toHaveLength(1);
});

test("an entry that the database refuses leaves those that wait with it", async () => {
  const { store, leases, other } = await opened(5);
  other.exec(`CREATE TRIGGER refuse BEFORE INSERT ON entries WHEN new.body LIKE '%forbidden%'
    BEGIN SELECT raise(ROLLBACK, 'refused'); END`);
  const words = (index: number): string => (index === 2 ? "forbidden" : "allowed");
  const appends = leases.map((lease, index) => appendTo(store, lease, 1, words(index)));
  const results = await Promise.allSettled(appends);
  expect(results.map(({ status }) => status === "fulfilled")).toEqual([true, true, false, true, true]);
  expect(countIn(other)).toBe(9);
});

test("appends that wait while another process has the lock are all refused, and can be made again", async () => {
  const { store, leases, other } = await opened(4);
  other.exec("BEGIN IMMEDIATE");
  const appends = leases.map((lease) => appendTo(store, lease, 1));
  for (const { status, ...rest } of await Promise.allSettled(appends))
    expect({ status, ...rest }).toMatchObject({ status: "rejected", reason: { kind: "locked" } });
  other.exec("ROLLBACK");
  await Promise.all(leases.map((lease) => appendTo(store, lease, 1)));
  expect(countIn(other)).toBe(8);
});

test("leases of several threads are taken and given back together, and one that another has is refused", async () => {
  const { store, leases, other } = await opened(3);
  other.exec("UPDATE leases SET owner = 'another', holder = NULL, expires_at = 9e15 WHERE thread = 't2'");
  const taken = await Promise.all(["t0", "t1", "t2"].map((id) => store.acquire(id, "somebody", 60_000)));
  expect(taken.map((lease) => lease?.threadId)).toEqual(["t0", "t1", undefined]);
  expect(new Set(taken.map((lease) => lease?.token)).size).toBe(3);
  await expect(Promise.all(leases.map((lease) => appendTo(store, lease, 1)))).rejects.toThrow(LeaseLostError);
  for (const lease of taken) if (lease !== null) await appendTo(store, lease, 1);
  await Promise.all(taken.map(async (lease) => lease && store.release(lease)));
  expect(other.prepare("SELECT thread FROM leases").all()).toEqual([{ thread: "t2" }]);
});

test("a store that is closed first stores what waits", async () => {
  const { store, leases, other } = await opened(3);
  const appends = leases.map((lease) => appendTo(store, lease, 1));
  await store.close();
  await Promise.all(appends);
  expect(countIn(other)).toBe(6);
});

type Opened = ReturnType<typeof sqliteStore>;

/** A store with threads of one entry each, their leases, and another connection to its file. */
const opened = async (threads: number) => {
  const path = join(newFolder(), "store.db");
  const store = sqliteStore({ path, busyTimeoutMs: 1 });
  const leases: Lease[] = [];
  for (let number = 0; number < threads; number++) {
    const lease = await take(store, `t${number}`);
    await appendTo(store, lease, 0);
    leases.push(lease);
  }
  await nextTurn();
  const other = new DatabaseSync(path);
  onTestFinished(async () => {
    other.close();
    await store.close();
  });
  return { store, leases, other };
};

const appendTo = async (store: Opened, lease: Lease | undefined, seq: number, words?: string): Promise<void> => {
  if (lease === undefined) throw new Error("there are fewer threads");
  await store.append(lease, seq - 1, [said(seq, words)]);
};

const countIn = (other: DatabaseSync): unknown =>
  other.prepare("SELECT count(*) AS count FROM entries").get()?.["count"];

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
