import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { storeContract } from "@colloquy/runtime-test/contracts";
import { afterAll } from "vitest";

import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const features = ["inbox", "search"] as const;

let files = 0;
storeContract(
  "sqliteStore in a file",
  async ({ clock }) => {
    const path = join(folder, `${(files += 1)}.db`);
    const open = () => sqliteStore({ path, clock, synchronous: "NORMAL" });
    const store = open();
    return {
      store,
      reopen: async () => {
        await store.close();
        return open();
      },
      another: async () => open(),
    };
  },
  { features },
);
