// The app of docs/coming-from.md: an agent with one tool, which remembers, streams, and asks for approval. A server on
// this machine stands in for OpenAI's.
import { createHost, openaiChat, sqliteStore, tool } from "@colloquy/runtime-node";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { loopbackServer } from "@colloquy/runtime-test/server";
import { z } from "zod";

const model = scriptedModel([
  toolCalls([{ name: "refund", arguments: { order: "17", amount: 12 } }]),
  reply("Done: 12 euros are on their way.", { expects: "Paid back 12 for order 17." }),
]);
const server = await loopbackServer({ model });
process.env["OPENAI_BASE_URL"] = server.url;
process.env["OPENAI_API_KEY"] = "none";
const path = ":memory:";

const refund = tool({
  name: "refund",
  description: "Pays money back to a customer.",
  input: z.object({ order: z.string(), amount: z.number() }),
  approval: "always",
  run: ({ order, amount }) => `Paid back ${amount} for order ${order}.`,
});
const store = sqliteStore({ path }); // "threads.db"
const host = createHost({
  llm: openaiChat({ model: "gpt-4o-mini" }),
  store,
  system: "You help the customers of a shop.",
  tools: [refund],
});
const thread = host.thread("ada");

const asked = thread.ask("Please pay back the 12 euros of order 17.");
for await (const part of asked) {
  if (part.type === "text.delta") process.stdout.write(part.text);
  if (part.type === "approval.requested") await thread.approve(part.request.id, { digest: part.request.digest });
}
await asked; // throws if it failed
await host.close();
await store.close();

delete process.env["OPENAI_BASE_URL"];
delete process.env["OPENAI_API_KEY"];
await server.close();
