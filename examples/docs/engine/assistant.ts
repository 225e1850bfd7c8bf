import { connect, memoryHub, serve } from "@colloquy/runtime-restate";
import { openaiChat, tool } from "@colloquy/runtime-node";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays the money for an order back.",
  input: z.object({ order: z.number().int() }),
  recovery: "once", // never run twice, whatever dies meanwhile
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
  admin: RESTATE_ADMIN_URL, // where the worker says that it is there
});
const host = connect({ url: RESTATE_URL, hub });

for await (const part of host.ask("Please refund order 5.", { threadId: "ada" }))
  if (part.type === "text.delta") process.stdout.write(part.text);
console.log();

await host.close();
await worker.close();
