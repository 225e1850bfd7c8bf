import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Entry } from "@colloquy/machine";
import { beforeEach, expect, test } from "vitest";

import { timeAt, timeText } from "../../src/stores/redis/keys.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";
import { take } from "./journal.ts";
import { newFolder } from "./folder.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

const started = (threadId: string): Entry => ({
  seq: 0,
  format: 2,
  event: { type: "thread.started", at: 1, threadId, metadata: { of: threadId } },
});

test("threads are listed when what is kept of one beside its journal is damaged, and by the journal", async () => {
  const path = join(folder, "store.db");
  const store = sqliteStore({ path });
  for (const threadId of ["one", "two"]) await store.append(await take(store, threadId), -1, [started(threadId)]);
  const database = new DatabaseSync(path);
  database.exec(`UPDATE threads SET metadata = '{"of":' WHERE thread = 'one'`);
  database.close();
  const { threads } = await store.list({ order: "oldest" });
  expect(threads.map(({ threadId, metadata }) => [threadId, metadata])).toEqual([
    ["one", { of: "one" }],
    ["two", { of: "two" }],
  ]);
  await store.close();
});

test.each([0, 1, -1, 1.5, 1_795_327_382_074, -1e300, Number.MIN_VALUE])("the time %d is read off a place", (time) => {
  expect(timeAt(`${timeText(time)}thread\0 17`)).toBe(time);
});
