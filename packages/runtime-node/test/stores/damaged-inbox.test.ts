import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { beforeEach, expect, test } from "vitest";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { checkDamagedAnswer, checkDamagedLetters } from "./damaged-inbox.ts";
import { newFolder } from "./folder.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

test.each([
  ["a SQLite store", (path: string) => sqliteStore({ path })],
  ["a store of files", () => filesStore({ folder })],
])("%s with a damaged inbox item reads all others", async (_, open) => {
  const path = join(folder, "threads.db");
  const store = open(path);
  const spoiling = (column: string) => (threadId: string, id: string, text: string) => {
    const database = new DatabaseSync(path);
    const changed = database
      .prepare(`UPDATE letters SET ${column} = ? WHERE thread = ? AND id = ?`)
      .run(text, threadId, JSON.stringify(id));
    database.close();
    expect(changed.changes).toBe(1);
  };
  await checkDamagedLetters(store, spoiling("letter"));
  await checkDamagedAnswer(store, spoiling("answer"));
  await store.close();
});
