// The app of docs/coming-from.md with the AI SDK: type-checked, not run.
import { readFile, writeFile } from "node:fs/promises";
import { type ModelMessage, tool, ToolLoopAgent } from "ai";
import { z } from "zod";

const refund = tool({
  description: "Pays money back to a customer.",
  inputSchema: z.object({ order: z.string(), amount: z.number() }),
  execute: ({ order, amount }) => `Paid back ${amount} for order ${order}.`,
});
const agent = new ToolLoopAgent({
  model: "openai/gpt-4o-mini",
  instructions: "You help the customers of a shop.",
  tools: { refund },
  toolApproval: { refund: "user-approval" },
});

const messages = JSON.parse(await readFile("ada.json", "utf8")) as ModelMessage[];

export const say = async (message: ModelMessage) => {
  messages.push(message);
  const result = await agent.stream({ messages });
  for await (const text of result.textStream) process.stdout.write(text);
  messages.push(...(await result.responseMessages));
  await writeFile("ada.json", JSON.stringify(messages));
  return (await result.content).flatMap((part) => (part.type === "tool-approval-request" ? [part] : []));
};

const requests = await say({ role: "user", content: "Please pay back the 12 euros of order 17." });
for (const { approvalId } of requests) {
  await say({ role: "tool", content: [{ type: "tool-approval-response", approvalId, approved: true }] });
}
