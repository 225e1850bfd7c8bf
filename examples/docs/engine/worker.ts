import { once } from "node:events";
import { serve } from "@colloquy/runtime-restate";
import { redisHub } from "@colloquy/runtime-restate/redis";
import { openaiChat, tool } from "@colloquy/runtime-node";
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays the money for an order back.",
  input: z.object({ order: z.number().int() }),
  recovery: "once",
  run: ({ order }) => `The money for order ${order} is on its way.`,
});

const { RESTATE_ADMIN_URL = "http://127.0.0.1:9070", PORT = "9080" } = process.env;
const { REDIS_URL = "redis://127.0.0.1:6379" } = process.env;
const hub = redisHub({ url: REDIS_URL });
const worker = await serve({
  llm: openaiChat({ model: "gpt-4o-mini" }),
  system: "You help with orders.",
  tools: [refund],
  hub,
  port: Number(PORT),
  admin: RESTATE_ADMIN_URL,
});
console.log(`A worker listens at ${worker.url}`);

await once(process, "SIGTERM");
await worker.close();
await hub.close();
