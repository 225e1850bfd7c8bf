import { mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync, StatementSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, expect, test, vi } from "vitest";

import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";
import { take } from "../journal.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-listing-"));
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

/** More than one scan covers. */
const count = 600;

test("a page has each thread once, whatever another process writes between two statements of it", async () => {
  const path = join(folder, "store.db");
  const store = sqliteStore({ path, synchronous: "NORMAL" });
  const made = async (threadId: string, at: number): Promise<void> => {
    const lease = await take(store, threadId);
    await store.append(lease, -1, [{ seq: 0, format: 2, event: { type: "thread.started", at, threadId } }]);
    await store.release(lease);
  };
  for (let number = 0; number < count; number++) await made(`t${number}`, number);
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
