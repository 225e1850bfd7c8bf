import { connect, memoryHub, serve } from "@colloquy/runtime-restate";
import { openaiChat, tool } from "@colloquy/runtime-node";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays the money for an order back.",
  input: z.object({ order: z.number().int() }),
  recovery: "once", // never runs twice, even if a process dies
  run: ({ order }) => `The money for order ${order} is on its way.`,
});

const {
  RESTATE_URL = "http://127.0.0.1:8080",
  RESTATE_ADMIN_URL = "http://127.0.0.1:9070",
  PORT = "9080",
} = process.env;
const hub = memoryHub();
const worker = await serve({
  llm: openaiChat({ model: "gpt-4o-mini" }), // reads OPENAI_API_KEY and OPENAI_BASE_URL
  system: "You help with orders.",
  tools: [refund],
  hub,
  port: Number(PORT),
  admin: RESTATE_ADMIN_URL, // where the worker registers
});
const host = connect({ url: RESTATE_URL, hub });

const asked = host.ask("Please refund order 5.", { threadId: "ada" });
for await (const part of asked) if (part.type === "text.delta") process.stdout.write(part.text);
await asked; // throws if it failed
console.log();

await host.close();
await worker.close();
