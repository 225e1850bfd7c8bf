// In Deno or Bun: runs the checks of `storeContract` on the stores that need no server, in a folder. Prints a line for
// each failure, and at last that all were run.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";

import type { Store } from "@colloquy/host";
import { filesStore, sqliteStore } from "@colloquy/runtime-node";
import { type MakeStore, storeChecks, subjectOf } from "@colloquy/runtime-test/contracts";

const folders: string[] = [];

const newFolder = (): string => {
  const folder = mkdtempSync(join(argv[2] ?? "", "store-"));
  folders.push(folder);
  return folder;
};

/** Makes a new place for each check, which may be opened several times. */
const makerOf =
  (open: (folder: string, clock: Parameters<MakeStore>[0]["clock"]) => Store): MakeStore =>
  async ({ clock }) => {
    const folder = newFolder();
    const store = open(folder, clock);
    const another = async (): Promise<Store> => open(folder, clock);
    return { store, another, reopen: async () => (await store.close(), open(folder, clock)) };
  };

const stores: Readonly<Record<string, MakeStore>> = {
  sqliteStore: makerOf((folder, clock) =>
    sqliteStore({ path: join(folder, "threads.db"), clock, synchronous: "NORMAL", erasing: "on-close" }),
  ),
  filesStore: makerOf((folder, clock) => filesStore({ folder: join(folder, "threads"), clock, synchronous: "NORMAL" })),
};

for (const [name, makeStore] of Object.entries(stores)) {
  for (const { name: promise, feature, check } of storeChecks) {
    const closers: (() => Promise<void>)[] = [];
    try {
      const subject = await subjectOf(makeStore, (close) => closers.push(close));
      if (feature === undefined || subject.store[feature] !== undefined) await check(subject);
    } catch (error) {
      console.log(`a ${name} that ${promise}: ${error instanceof Error ? error.message : String(error)}`);
    }
    for (const close of closers) await close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  }
}

console.log("all were run");
