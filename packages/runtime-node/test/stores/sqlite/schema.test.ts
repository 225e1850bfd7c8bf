import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, expect, test } from "vitest";

import { migrate, steps } from "../../../src/stores/sqlite/schema.ts";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { writeFirstVersion } from "./first-version.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-schema-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const versionOf = (database: DatabaseSync): unknown => database.prepare("PRAGMA user_version").get()?.["user_version"];

test("a file goes through each step once, and keeps what it holds", () => {
  const database = new DatabaseSync(":memory:");
  migrate(database, ":memory:");
  expect(versionOf(database)).toBe(steps.length);
  database.exec("INSERT INTO entries VALUES (67108864, '{}')");
  migrate(database, ":memory:");
  const later = [...steps, "ALTER TABLE entries ADD COLUMN note TEXT", "UPDATE entries SET note = 'kept'"];
  migrate(database, ":memory:", later);
  migrate(database, ":memory:", later);
  expect(versionOf(database)).toBe(steps.length + 2);
  expect(database.prepare("SELECT * FROM entries").all()).toEqual([{ place: 67108864, body: "{}", note: "kept" }]);
});

test("a step that fails leaves the file as it was", () => {
  const database = new DatabaseSync(":memory:");
  migrate(database, ":memory:");
  const broken = [...steps, "CREATE TABLE half (a)", "CREATE TABLE half (a)"];
  expect(() => migrate(database, ":memory:", broken)).toThrow(/already exists/);
  expect(versionOf(database)).toBe(steps.length);
  expect(database.isTransaction).toBe(false);
  expect(database.prepare("SELECT name FROM sqlite_schema WHERE name = 'half'").all()).toEqual([]);
});

test("an older version refuses what a newer one made", () => {
  const database = new DatabaseSync(":memory:");
  migrate(database, "newer.db", [...steps, "CREATE TABLE more (a)"]);
  expect(() => migrate(database, "newer.db")).toThrow(
    new RegExp(`"newer.db": it has schema ${steps.length + 1}, .* knows up to ${steps.length}`),
  );
});

test("the step that was released stays as it was", () => {
  const digest = createHash("sha256")
    .update(steps[0] ?? "")
    .digest("hex");
  expect(digest).toBe("63ecdb0ac3b2dd8f55756d9cde4d02da15fc11516805f2486af6c7f493db0a31");
});

test("a file of the first version is listed, searched and continued like any other", async () => {
  const path = join(folder, "store.db");
  const threads = writeFirstVersion(path);
  const store = sqliteStore({ path });
  expect((await store.list({ order: "oldest" })).threads).toEqual(threads);
  expect((await store.list({ metadata: { user: "ada" } })).threads.map(({ threadId }) => threadId)).toEqual(["ada 🙂"]);
  expect((await store.search?.("hello"))?.hits.map(({ threadId }) => threadId).sort()).toEqual(["ada 🙂", "plain"]);
  const lease = await store.acquire("plain", "owner", 1000);
  if (lease === null) throw new Error("the lease should have been free");
  // Tokens continue from those that the first version gave.
  expect(lease.token).toBe(8);
  await store.append(lease, 1, [{ seq: 2, event: { type: "metadata.changed", at: 900, metadata: { user: "grace" } } }]);
  await store.inbox?.post("plain", { id: "a", event: { type: "ask.received", at: 1, askId: "a", input: "hello" } });
  await store.saveSnapshot(lease, { threadId: "plain", seq: 2, head: "{}", chunks: new Map(), dropped: [] });
  expect((await store.list({ updated: { from: 900 } })).threads).toEqual([
    { threadId: "plain", seq: 2, createdAt: 200, updatedAt: 900, metadata: { user: "grace" } },
  ]);
  await store.close();
});
