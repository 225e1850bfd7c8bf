import { memoryStore } from "@colloquy/host";

import { storeContract } from "../../../src/contracts/index.ts";

storeContract("memoryStore", async ({ clock }) => ({ store: memoryStore({ clock }) }), {
  features: ["inbox", "search", "parts"],
});
