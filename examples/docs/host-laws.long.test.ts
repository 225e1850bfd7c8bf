// Checks a host and a store against the laws of runtimes. docs/testing.md shows it.
import { createHost, memoryStore } from "@colloquy/host";
import { sqliteStore } from "@colloquy/runtime-node";
import { runningClock } from "@colloquy/runtime-test";
import {
  checkApprovals,
  checkRedaction,
  checkSameJournal,
  checkSharedThread,
  type HostUnderTest,
  type ScriptedParts,
} from "@colloquy/runtime-test/laws";
import { describe, test } from "vitest";

describe("a store of SQLite", () => {
  const subject: HostUnderTest = { createStore: ({ clock }) => sqliteStore({ path: ":memory:", clock }) };

  test("two hosts on it lose, repeat and duplicate nothing", () => checkSharedThread(subject));
  test("redacted text is nowhere in it", () => checkRedaction(subject));
  test("approved calls run as they were approved", () => checkApprovals(subject));
});

test("one script gives the same journal on both", async () => {
  const clock = runningClock();
  const inMemory = (parts: ScriptedParts) => createHost({ ...parts, clock, store: memoryStore({ clock }) });
  const inSqlite = (parts: ScriptedParts) =>
    createHost({ ...parts, clock, store: sqliteStore({ path: ":memory:", clock }) });
  await checkSameJournal({ inMemory, inSqlite });
});
