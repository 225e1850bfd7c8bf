// A process for a test to kill while it waits for an approval: `node waiting-process.ts STORE`. It prints `asked` when
// it asks for the approval.
import { createHost, sqliteStore } from "@colloquy/runtime-node";
import { scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { pay } from "./page.ts";

const [path = ""] = process.argv.slice(2);
const store = sqliteStore({ path });
const host = createHost({
  llm: scriptedModel([toolCalls([{ name: "pay", arguments: {} }])]),
  store,
  tools: [pay],
  idleMs: 3_600_000,
  // Longer than this process ever waits.
  leaseTtlMs: 3_600_000,
  observers: [{ approval: () => process.stdout.write("asked\n") }],
});
void host.ask("Pay.", { threadId: "t" }); // not awaited: that would hold the thread
setInterval(() => {}, 60_000);
