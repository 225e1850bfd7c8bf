import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { checkApprovals, checkRedaction, checkSharedThread, type HostUnderTest } from "@colloquy/runtime-test/laws";
import { afterAll, describe, test } from "vitest";

import { systemClock } from "../../src/ports/system.ts";
import { filesStore } from "../../src/stores/files/files-store.ts";
import { sqliteStore } from "../../src/stores/sqlite/sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-laws-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
const place = (): string => join(folder, `${(made += 1)}`);

// These run on the disk, in real time.
const subjects: Readonly<Record<string, HostUnderTest>> = {
  files: {
    createClock: () => systemClock,
    createStore: ({ clock }) => filesStore({ folder: place(), clock, synchronous: "NORMAL" }),
  },
  SQLite: {
    createClock: () => systemClock,
    createStore: ({ clock }) => sqliteStore({ path: place(), clock, synchronous: "NORMAL" }),
  },
};

describe.each(Object.entries(subjects))("hosts on %s", (_, subject) => {
  test("lose, repeat and duplicate nothing", () => checkSharedThread(subject));
  test("leave nothing of what is redacted", () => checkRedaction(subject));
  test("run what needs approval as it was approved", () => checkApprovals(subject));
});
