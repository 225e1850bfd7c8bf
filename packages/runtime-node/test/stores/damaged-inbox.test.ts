import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import { afterEach, beforeEach, expect, test } from "vitest";

import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { checkDamagedAnswer, checkDamagedLetters } from "./damaged-inbox.ts";

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

test.each(["letter", "x".repeat(300)])(
  "a letter of which a power cut left an empty file is written when it is left again: %s",
  async (id) => {
    const store = filesStore({ folder });
    const letter = { id, event: { type: "ask.received", at: 1, askId: id, input: "hi" } } as const;
    await store.inbox?.post("thread", letter);
    writeFileSync(onlyLetter(), "");
    expect(await store.inbox?.unanswered("thread")).toEqual([]);
    await store.inbox?.post("thread", letter);
    expect(await store.inbox?.unanswered("thread")).toEqual([letter]);
    await store.close();
  },
);

test("a damaged letter whose file does not tell its id is reported, and is whole when it is left again", async () => {
  const store = filesStore({ folder });
  const id = "x".repeat(300);
  const letter = { id, event: { type: "ask.received", at: 1, askId: id, input: "hi" } } as const;
  await store.inbox?.post("thread", letter);
  writeFileSync(onlyLetter(), '{"id":');
  expect(await store.inbox?.unanswered("thread")).toEqual([{}]);
  await store.inbox?.post("thread", letter);
  expect(await store.inbox?.unanswered("thread")).toEqual([letter]);
  await store.close();
});

const onlyLetter = (): string => {
  const inbox = join(folder, "thread.inbox");
  const [file = "", ...others] = readdirSync(inbox);
  expect(others).toEqual([]);
  return join(inbox, file);
};
