import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "colloquy-processes-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("processes that open the same new file at the same moment write one journal together, and lose nothing", async () => {
  const path = join(folder, "store.db");
  const writers = Array.from({ length: 4 }, () => fork(new URL("writer.ts", import.meta.url)));
  try {
    await Promise.all(writers.map((writer) => once(writer, "message")));
    const reports = writers.map(reportOf);
    for (const writer of writers) writer.send({ path, untilSeq: 120 });
    const acknowledged = (await Promise.all(reports)).flat();
    const store = sqliteStore({ path });
    const journal = await store.read("thread");
    await store.close();
    expect(acknowledged.sort((one, other) => one - other)).toEqual(journal.map((_, seq) => seq));
    expect(journal.length).toBeGreaterThan(120);
    expect(journal).toMatchObject(journal.map((_, seq) => ({ seq })));
  } finally {
    for (const writer of writers) writer.kill("SIGKILL");
  }
});

/** The seqs that a writer says it has written, when it is done; an error when it dies of one. */
const reportOf = async (writer: ChildProcess): Promise<readonly number[]> => {
  const exit = once(writer, "exit").then(([code]: unknown[]) => {
    throw new Error(`a writer ended with ${String(code)}`);
  });
  const [message] = (await Promise.race([once(writer, "message"), exit])) as [readonly number[]];
  return message;
};
