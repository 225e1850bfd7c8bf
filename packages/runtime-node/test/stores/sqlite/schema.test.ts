import { DatabaseSync } from "node:sqlite";

import { expect, test } from "vitest";

import { migrate, steps } from "../../../src/stores/sqlite/schema.ts";

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
  expect(() => migrate(database, "newer.db")).toThrow(/"newer.db": it has schema 2, .* knows up to 1/);
});
