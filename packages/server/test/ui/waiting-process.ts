// A process to be killed while an approval is waited for: `node waiting-process.ts STORE IDLE_MS`. It says `asked` when the approval is
// asked for, and `released` when it gives the thread's lease back.
import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { pay } from "./page.ts";

const [path = "", idleMs = ""] = process.argv.slice(2);
const store = sqliteStore({ path });
const said = (word: string): void => void process.stdout.write(`${word}\n`);
const host = createHost({
  llm: scriptedModel([toolCalls([{ name: "pay", arguments: {} }])]),
  store: {
    ...store,
    release: async (lease) => {
      await store.release(lease);
      said("released");
    },
  },
  tools: [pay],
  idleMs: Number(idleMs),
  // Longer than any machine keeps this process waiting.
  leaseTtlMs: 3_600_000,
  observers: [{ approval: () => said("asked") }],
});
void host.ask("Pay.", { threadId: "t" }); // not awaited: that would hold the thread
setInterval(() => {}, 60_000);
