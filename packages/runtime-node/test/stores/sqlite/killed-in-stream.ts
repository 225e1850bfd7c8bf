import { createHost } from "../../../src/host.ts";
import { sqliteStore } from "../../../src/stores/sqlite/sqlite-store.ts";

// A process whose model writes half of an answer and hangs. It reports when the half is stored, and waits to be killed.

const store = sqliteStore({ path: process.argv[2] ?? "" });
const { parts } = store;
if (parts === undefined) throw new Error("the store has no log of parts");
const host = createHost({
  store: {
    ...store,
    parts: {
      append: async (lease, batch) => {
        await parts.append(lease, batch);
        if (batch.body.includes("half of an ans")) process.send?.("shown");
      },
      read: (...given) => parts.read(...given),
    },
  },
  // Longer than this process waits on a busy machine.
  leaseTtlMs: 60_000,
  partsMs: 5,
  llm: async (_, { onDelta }) => {
    onDelta({ type: "text", text: "half of " });
    onDelta({ type: "text", text: "an ans" });
    return new Promise<never>(() => {});
  },
});
await host.ask("What is a queue?", { threadId: "thread", askId: "a" });
