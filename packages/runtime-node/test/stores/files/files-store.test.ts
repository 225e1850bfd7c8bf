import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { storeContract } from "@colloquy/runtime-test/contracts";
import { afterAll } from "vitest";

import { filesStore } from "../../../src/stores/files/files-store.ts";

const parent = mkdtempSync(join(tmpdir(), "colloquy-files-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

let folders = 0;
storeContract("filesStore", async ({ clock }) => {
  const folder = join(parent, `${(folders += 1)}`);
  const open = () => filesStore({ folder, clock, synchronous: "NORMAL" });
  const store = open();
  return {
    store,
    reopen: async () => {
      await store.close();
      return open();
    },
    another: async () => open(),
  };
});
