// A tool that a person must approve: one process asks, another takes the answer, a third runs the tool. In between no
// process has to run, as the question is part of the thread.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHost, type Host, type LlmHandler, sqliteStore, tool } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

const folder = mkdtempSync(join(tmpdir(), "colloquy-example-"));

const transfer = tool({
  name: "transfer",
  description: "Transfers money.",
  version: "1",
  input: z.object({ to: z.string(), amount: z.number().positive(), currency: z.string().default("EUR") }),
  // Small amounts need no approval. "always" would ask about each call.
  approval: ({ amount }) => amount > 100,
  recovery: "once",
  run: ({ to, amount, currency }) => {
    console.log(`  transferring ${amount} ${currency} to ${to}`);
    return "done";
  },
});

const startProcess = async (llm: LlmHandler, work: (host: Host) => Promise<void>): Promise<void> => {
  const store = sqliteStore({ path: join(folder, "bank.db") });
  const host = createHost({ llm, store, tools: [transfer] });
  await work(host);
  await host.close();
  await store.close();
};

const calls = [
  { to: "Ada", amount: 20 },
  { to: "Charles", amount: 2000 },
].map((input) => ({
  name: "transfer",
  arguments: input,
}));

await startProcess(scriptedModel([toolCalls(calls)]), async (host) => {
  const ask = host.ask("Pay Ada 20 and Charles 2000.", { threadId: "ada", askId: "payday" });
  const seen = new Set<string>();
  for await (const { type } of ask) {
    seen.add(type);
    if (seen.has("approval.requested") && seen.has("toolResult")) break;
  }
});

console.log("-- another process, days later");

await startProcess(scriptedModel([]), async (host) => {
  const [request] = await host.thread("ada").approvals();
  if (request === undefined) throw new Error("no approval is asked for");
  console.log(`May ${request.name} run with ${JSON.stringify(request.arguments)}?`);
});

console.log("-- and a third");

await startProcess(scriptedModel([reply("Both were paid.")]), async (host) => {
  const thread = host.thread("ada");
  const [request] = await thread.approvals();
  if (request !== undefined) await thread.approve(request.id, { by: "Grace", digest: request.digest });
  // The same askId has the same outcome in every process.
  console.log((await thread.ask("Pay Ada 20 and Charles 2000.", { askId: "payday" })).text);
});

rmSync(folder, { recursive: true });
