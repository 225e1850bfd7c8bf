import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { expect, test } from "vitest";

import { makeSchema, schemaVersion } from "../../../src/stores/sqlite/schema.ts";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { newFolder } from "../folder.ts";
import { said, take } from "../journal.ts";

const versionOf = (database: DatabaseSync): unknown => database.prepare("PRAGMA user_version").get()?.["user_version"];

test("a new file gets the schema once, and keeps what it holds", () => {
  const database = new DatabaseSync(":memory:");
  makeSchema(database, ":memory:");
  expect(versionOf(database)).toBe(schemaVersion);
  database.exec("INSERT INTO entries VALUES (67108864, '{}')");
  makeSchema(database, ":memory:");
  expect(database.prepare("SELECT * FROM entries").all()).toEqual([{ place: 67108864, body: "{}" }]);
});

test("a schema that can't be made whole leaves the file as it was", () => {
  const database = new DatabaseSync(":memory:");
  // The last table exists, so making the schema fails after all others.
  database.exec("CREATE TABLE parts (a); PRAGMA application_id = 1131180409");
  expect(() => makeSchema(database, ":memory:")).toThrow(/already exists/);
  expect(versionOf(database)).toBe(0);
  expect(database.isTransaction).toBe(false);
  expect(database.prepare("SELECT name FROM sqlite_schema").all()).toEqual([{ name: "parts" }]);
});

test("a thread has 67,108,864 entries at most, and no write of it reaches the next thread", async () => {
  const path = join(newFolder(), "store.db");
  const store = sqliteStore({ path });
  const [lease, next] = [await take(store, "one"), await take(store, "two")];
  for (const each of [lease, next]) await store.append(each, -1, [said(0), said(1)]);
  const most = 2 ** 26;
  const database = new DatabaseSync(path);
  database.exec(`UPDATE entries SET place = place + ${most - 3} WHERE place = ${most + 1}`);
  database.close();
  await store.append(lease, most - 2, [said(most - 1)]);
  expect(() => store.append(lease, most - 1, [said(most)])).toThrow(RangeError);
  expect(await store.read("one", 1)).toEqual([{ ...said(1), seq: most - 2 }, said(most - 1)]);
  await expect(store.rewrite(lease, [said(most)])).rejects.toThrow(RangeError);
  await expect(store.rewrite(next, [said(-1)])).rejects.toThrow(RangeError);
  await expect(store.rewrite(lease, [said(0.5)])).rejects.toThrow(RangeError);
  expect(await store.read("two")).toEqual([said(0), said(1)]);
  await store.close();
});
