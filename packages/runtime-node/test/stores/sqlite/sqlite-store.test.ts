import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type MakeStore, storeContract } from "@colloquy/runtime-test/contracts";
import { afterAll } from "vitest";

import { sqliteStore, type SqliteStoreOptions } from "../../../src/stores/sqlite/sqlite-store.ts";

const folder = mkdtempSync(join(tmpdir(), "colloquy-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const features = ["inbox", "search"] as const;

let files = 0;
const inFile =
  (options: Partial<SqliteStoreOptions>): MakeStore =>
  async ({ clock }) => {
    const path = join(folder, `${(files += 1)}.db`);
    const open = () => sqliteStore({ path, clock, synchronous: "NORMAL", ...options });
    const store = open();
    return {
      store,
      reopen: async () => {
        await store.close();
        return open();
      },
      another: async () => open(),
    };
  };

storeContract("sqliteStore in a file", inFile({}), { features });

storeContract("sqliteStore that erases later", inFile({ erasing: "on-close" }), { features });

storeContract("sqliteStore in memory", async ({ clock }) => ({ store: sqliteStore({ path: ":memory:", clock }) }), {
  features,
});
