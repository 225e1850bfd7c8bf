// Checks stores against the contract of the port `Store`. docs/testing.md shows it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@colloquy/host";
import { sqliteStore } from "@colloquy/runtime-node";
import { storeContract } from "@colloquy/runtime-test/contracts";
import { afterAll } from "vitest";

import { mapStore } from "./own-store.ts";

storeContract("the memory store", async ({ clock }) => ({ store: memoryStore({ clock }) }));

storeContract("a store of one's own", async ({ clock }) => ({ store: mapStore(clock) }));

const folder = mkdtempSync(join(tmpdir(), "colloquy-docs-"));
afterAll(() => rmSync(folder, { recursive: true }));

storeContract("a store in a file", async ({ clock }) => {
  const path = join(mkdtempSync(join(folder, "store-")), "threads.db");
  const open = async () => sqliteStore({ path, clock, synchronous: "NORMAL" });
  return { store: await open(), reopen: open, another: open };
});
