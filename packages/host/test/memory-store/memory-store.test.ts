import { memoryStore } from "@colloquy/host";
import { storeContract } from "@colloquy/runtime-test/contracts";

storeContract("memoryStore", async ({ clock }) => ({ store: memoryStore({ clock }) }), {
  features: ["inbox", "search", "parts"],
});
