// Threads on Restate, a durable engine: a worker performs them, a host asks. The worker ends while it waits for an
// approval, and another one at its address continues. Needs a server: `pnpm engines:install` installs it once, and
// `pnpm servers node examples/22-restate.ts` starts it for this program. docs/engine.md says how to start it alone.
import { randomUUID } from "node:crypto";
import { tool } from "@colloquy/runtime-node";
import { connect, memoryHub, serve, type Worker } from "@colloquy/runtime-restate";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays the money for an order back.",
  input: z.object({ order: z.number().int() }),
  approval: "always",
  // Runs at most once: if a worker dies meanwhile, the model reads that the outcome is unknown.
  recovery: "once",
  run: ({ order }, { idempotencyKey }) => {
    console.log(`  the money for order ${order} is on its way, under ${idempotencyKey}`);
    return "done";
  },
});

const llm = scriptedModel([
  toolCalls([{ name: "refund", arguments: { order: 5 } }], { content: "I'll ask whether I may." }),
  reply("The money is on its way."),
]);
const { COLLOQUY_RESTATE_URL = "http://127.0.0.1:8080", COLLOQUY_RESTATE_ADMIN_URL = "http://127.0.0.1:9070" } =
  process.env;

// Live parts go through the hub, not through the engine. Between processes the hub is a redisHub.
const hub = memoryHub();
const name = "example-22";
const startWorker = (port: number): Promise<Worker> =>
  serve({ llm, tools: [refund], hub, name, port, admin: COLLOQUY_RESTATE_ADMIN_URL });

let worker = await startWorker(0);
const host = connect({ url: COLLOQUY_RESTATE_URL, hub, name });
const thread = host.thread(`ada ${randomUUID()}`);
const ask = thread.ask("Please refund order 5.");
for await (const part of ask) {
  if (part.type === "text.delta") process.stdout.write(part.text);
  if (part.type === "approval.requested") break;
}
await worker.close();
console.log("\n-- the worker is gone: nothing runs, and the question waits");

// Days later. Restate calls the address that it knows.
worker = await startWorker(Number(new URL(worker.url).port));
const [request] = await thread.approvals();
if (request === undefined) throw new Error("no approval is asked for");
console.log(`May ${request.name} run with ${JSON.stringify(request.arguments)}?`);
await thread.approve(request.id, { by: "Grace", digest: request.digest });
console.log((await ask).text);

await host.close();
await worker.close();
