import { storeContract } from "@colloquy/runtime-test/contracts";

import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";

storeContract("sqliteStore in memory", async ({ clock }) => ({ store: sqliteStore({ path: ":memory:", clock }) }), {
  features: ["inbox", "search"],
});
