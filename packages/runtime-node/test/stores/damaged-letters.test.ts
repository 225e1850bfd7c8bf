import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, expect, test } from "vitest";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { checkDamagedAnswer, checkDamagedLetters } from "./damaged-letters.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-letters-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a letter in SQLite that is damaged keeps no other from being read", async () => {
  const path = join(folder, "store.db");
  const store = sqliteStore({ path });
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

test("a letter in a file that is damaged keeps no other from being read", async () => {
  const store = filesStore({ folder });
  await checkDamagedLetters(store, (threadId, id, text) => {
    const inbox = join(folder, `${threadId}.inbox`);
    const file = readdirSync(inbox).find((name) => name.endsWith(`-${id}.json`));
    if (file === undefined) throw new Error(`there is no file of letter "${id}"`);
    writeFileSync(join(inbox, file), text);
  });
  await store.close();
});
