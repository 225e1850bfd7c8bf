import { DatabaseSync } from "node:sqlite";

import { expect, test } from "vitest";

import { makeSchema, schemaVersion } from "../../../src/stores/sqlite/schema.ts";

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
