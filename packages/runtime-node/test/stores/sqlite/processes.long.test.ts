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
  const acknowledged = await writeTogether(path, 120);
  const store = sqliteStore({ path });
  const journal = await store.read("thread");
  await store.close();
  expect(acknowledged.sort((one, other) => one - other)).toEqual(journal.map((_, seq) => seq));
  expect(journal.length).toBeGreaterThan(120);
  expect(journal).toMatchObject(journal.map((_, seq) => ({ seq })));
});

/** The seqs that four processes say they wrote to one thread, until it had so many. */
const writeTogether = async (path: string, untilSeq: number): Promise<number[]> => {
  const writers = Array.from({ length: 4 }, () => fork(new URL("writer.ts", import.meta.url)));
  try {
    await Promise.all(writers.map(messageOf));
    const reports = writers.map(messageOf);
    for (const writer of writers) writer.send({ path, untilSeq });
    // `writer.ts` sends this when it is done.
    return (await Promise.all(reports)).flat() as number[];
  } finally {
    for (const writer of writers) writer.kill("SIGKILL");
  }
};

/** Returns the next message of a writer; throws if it dies instead. */
const messageOf = async (writer: ChildProcess): Promise<unknown> => {
  const exit = once(writer, "exit").then(([code]: unknown[]) => {
    throw new Error(`a writer ended with ${String(code)}`);
  });
  const [message]: unknown[] = await Promise.race([once(writer, "message"), exit]);
  return message;
};
