import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { Entry } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { beforeEach, expect, test } from "vitest";

import { whileBusy } from "../../../src/stores/sqlite/failure.ts";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { StorageError } from "@colloquy/host/store";
import { newFolder } from "../folder.ts";
import { take } from "../journal.ts";

let folder: string;
beforeEach(() => {
  folder = newFolder();
});

test.each(["CREATE TABLE theirs (a)", "PRAGMA user_version = 1", "PRAGMA application_id = 7"])(
  "a database of something else is refused, and left as it is: %s",
  async (sql) => {
    const path = join(folder, "theirs.db");
    change(path, sql);
    const before = readFileSync(path);
    const error = await refusalOf(() => sqliteStore({ path }).list());
    expect(error.kind).toBe("not-a-store");
    expect(error.message).toMatch(/theirs\.db": the database there belongs to something else/);
    expect(readFileSync(path).equals(before)).toBe(true);
  },
);

test.each([
  [99, "newer", "update the package"],
  [4, "older", "read it with the version that wrote it"],
] as const)("a file of schema %i is refused as %s, and left as it is", async (version, kind, words) => {
  const path = await written();
  change(path, `PRAGMA user_version = ${version}`);
  const before = readFileSync(path);
  const error = await refusalOf(() => sqliteStore({ path }).list());
  expect(error.kind).toBe(kind);
  expect(error.message).toContain(
    `it has schema ${version}, and this version of @colloquy/runtime-node reads only 5; ${words}.`,
  );
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("an entry that is not JSON any more is named by thread and seq, and others stay readable", async () => {
  const path = await written("other");
  await written("thread");
  change(
    path,
    `UPDATE entries SET body = '{"ev' WHERE place = (SELECT id FROM threads WHERE thread = 'thread') * 67108864 + 1`,
  );
  const store = sqliteStore({ path });
  const reading = store.read("thread");
  await expect(reading).rejects.toMatchObject({ name: "StorageError", kind: "corrupt" });
  await expect(reading).rejects.toThrow(/store\.db": entry 1 of thread "thread" is not JSON/);
  expect(await store.read("other")).toHaveLength(2);
  await store.close();
});

test.each(["null", "7", '"words"'])(
  "a store reads an entry that became %s as that, for the host to name",
  async (body) => {
    const path = await written();
    change(path, `UPDATE entries SET body = '${body}' WHERE place % 67108864 = 1`);
    const store = sqliteStore({ path });
    expect((await store.read("thread"))[1]).toEqual(JSON.parse(body));
    await store.close();
  },
);

test("a damaged file is told as such", async () => {
  const path = await written();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xff, 8192));
  const store = sqliteStore({ path });
  await expect(store.read("thread")).rejects.toMatchObject({
    kind: "corrupt",
    message: expect.stringMatching(/store\.db": the file is damaged; restore it/),
  });
  await store.close();
});

/** Writes a store with a thread of two entries, and closes it. Returns its path. */
const written = async (threadId = "thread"): Promise<string> => {
  const path = join(folder, "store.db");
  const store = sqliteStore({ path });
  const lease = await take(store, threadId);
  const entries: readonly Entry[] = [
    { seq: 0, format: 2, event: { type: "thread.started", at: 0, threadId } },
    { seq: 1, event: { type: "checkpoint.named", at: 1, name: `the words of ${threadId}` } },
  ];
  await store.append(lease, -1, entries);
  await store.release(lease);
  await store.close();
  return path;
};

const change = (path: string, sql: string): void => {
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
};

const refusalOf = async (call: () => Promise<unknown>): Promise<StorageError> => {
  try {
    await call();
  } catch (error) {
    if (error instanceof StorageError) return error;
    throw error;
  }
  throw new Error("it should have been refused");
};

test.each([
  [5, 60_000, 4],
  [6, 60_000, 4],
  [5, 0, 1],
  [13, 60_000, 1],
])("an open that fails by the code %i with a limit of %i ms is tried %i times", (errcode, timeoutMs, tries) => {
  let calls = 0;
  const open = (): void => {
    calls += 1;
    if (calls < 4) throw Object.assign(new Error("no"), { errcode });
  };
  const outcome = Either.tryCatch(() => whileBusy(timeoutMs, open), String);
  expect([outcome, calls]).toEqual([tries === 4 ? Either.right(undefined) : Either.left("Error: no"), tries]);
});
