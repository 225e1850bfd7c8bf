import { DatabaseSync, StatementSync } from "node:sqlite";
import { join } from "node:path";

import type { ListOptions, Store } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "../folder.ts";
import { take } from "../journal.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});
afterEach(() => {
  vi.restoreAllMocks();
});

const made = async (store: Store, threadId: string, at: number, metadata?: JsonObject): Promise<void> => {
  const lease = await take(store, threadId);
  const event = { type: "thread.started", at, threadId, ...(metadata !== undefined && { metadata }) } as const;
  await store.append(lease, -1, [{ seq: 0, format: 2, event }]);
  await store.release(lease);
};

test("a page after a place outside of the wanted times begins with the first thread in them", async () => {
  const store = sqliteStore({ path: ":memory:" });
  for (let at = 1; at <= 6; at++) await made(store, `t${at}`, at);
  const ids = async (options: ListOptions): Promise<readonly string[]> =>
    (await store.list(options)).threads.map(({ threadId }) => threadId);
  const after = async (order: "newest" | "oldest", limit: number): Promise<{ readonly after?: string }> => {
    const { next } = await store.list({ order, limit });
    return next === null ? {} : { after: next };
  };
  const created = { from: 3, until: 5 };
  for (const limit of [1, 2]) {
    expect(await ids({ order: "oldest", created, ...(await after("oldest", limit)) })).toEqual(["t3", "t4"]);
    expect(await ids({ order: "newest", created, ...(await after("newest", limit)) })).toEqual(["t4", "t3"]);
  }
  expect(await ids({ order: "oldest", created, ...(await after("oldest", 3)) })).toEqual(["t4"]);
  expect(await ids({ order: "newest", created, ...(await after("newest", 3)) })).toEqual(["t3"]);
  expect(await ids({ order: "newest", created, ...(await after("newest", 5)) })).toEqual([]);
  await store.close();
});

test("threads are listed as changed at the time of their newest entry, or of their creation if it has none", async () => {
  const path = join(folder, "store.db");
  const store = sqliteStore({ path });
  const bodies = [
    '{"type":"a","at":7}',
    '{"event":{"type":"a","at":8},"redacted":true}',
    "null",
    "{",
    '{"at":"9"}',
    '{"event":null}',
  ];
  for (const index of bodies.keys()) await made(store, `t${index}`, 5);
  const other = new DatabaseSync(path);
  const write = other.prepare(
    "UPDATE entries SET body = ? WHERE place / 67108864 = (SELECT id FROM threads WHERE thread = ?)",
  );
  for (const [index, body] of bodies.entries()) write.run(body, `t${index}`);
  const { threads } = await store.list({ order: "oldest" });
  expect(threads.map(({ createdAt, updatedAt }) => [createdAt, updatedAt])).toEqual(
    [7, 8, 5, 5, 5, 5].map((at) => [5, at]),
  );
  const changed = await store.list({ order: "oldest", updated: { from: 6 } });
  expect(changed.threads.map(({ threadId }) => threadId)).toEqual(["t0", "t1"]);
  other.close();
  await store.close();
});

test("rare threads among very many are found by their metadata, page by page, while other work runs", async () => {
  const path = join(folder, "store.db");
  const store = sqliteStore({ path, synchronous: "NORMAL" });
  await made(store, "rare 1", 1, { user: "ada", isRare: true, n: 1, note: null });
  const other = new DatabaseSync(path);
  other.exec(`WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < 5000)
    INSERT INTO threads (id, thread, created_at, metadata) SELECT n, 't' || n, n, '{"user":"bob"}' FROM numbers;
    INSERT INTO entries (place, body) SELECT id * 67108864, '{"type":"a","at":1}' FROM threads WHERE id > 1`);
  other.close();
  await made(store, "rare 2", 6_000, { user: "ada", isRare: true, n: 1, note: null });
  for (const metadata of [{ user: "ada" }, { isRare: true }, { n: 1 }, { note: null }, { note: null, user: "ada" }]) {
    let turns = 0;
    const count = (): void => {
      turns++;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    const first = await store.list({ metadata, limit: 1 });
    const second = await store.list({ metadata, limit: 1, after: first.next ?? "" });
    clearImmediate(counting);
    expect([...first.threads, ...second.threads].map(({ threadId }) => threadId)).toEqual(["rare 2", "rare 1"]);
    expect(second.next).toBeNull();
    expect(turns).toBeGreaterThan(0);
  }
  await store.close();
});

/** More than one scan covers. */
const count = 600;

test("a page has each thread once, whatever another process writes between two statements of it", async () => {
  const path = join(folder, "store.db");
  const store = sqliteStore({ path, synchronous: "NORMAL" });
  for (let number = 0; number < count; number++) await made(store, `t${number}`, number);
  const other = new DatabaseSync(path);
  const insert = other.prepare(
    "INSERT INTO threads (thread, created_at, metadata) SELECT ?, ?, metadata FROM threads WHERE thread = 't0'",
  );
  const remove = other.prepare("DELETE FROM threads WHERE thread = ?");
  // oxlint-disable-next-line typescript/unbound-method -- each is called with its statement.
  const { get, all } = StatementSync.prototype;
  let written = 0;
  const write = (): void => {
    written++;
    insert.run(`new${written}`, count + written);
    if (written > 1) remove.run(`new${written - 1}`);
  };
  vi.spyOn(StatementSync.prototype, "get").mockImplementation(function (this: StatementSync, ...values) {
    const row = get.apply(this, values);
    write();
    return row;
  });
  vi.spyOn(StatementSync.prototype, "all").mockImplementation(function (this: StatementSync, ...values) {
    const rows = all.apply(this, values);
    write();
    return rows;
  });
  const { threads } = await store.list({ updated: { from: 0 }, limit: 1_000 });
  vi.restoreAllMocks();
  expect(written).toBeGreaterThan(1);
  const old = threads.map(({ threadId }) => threadId).filter((threadId) => !threadId.startsWith("new"));
  expect(old).toEqual(Array.from({ length: count }, (_, index) => `t${count - 1 - index}`));
  other.close();
  await store.close();
});
