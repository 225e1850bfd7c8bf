// The app of docs/coming-from.md with the OpenAI Agents SDK: type-checked, not run.
import { Agent, MemorySession, run, type RunState, tool } from "@openai/agents-core"; // "@openai/agents" in a program
import { z } from "zod";

const refund = tool({
  name: "refund",
  description: "Pays money back to a customer.",
  parameters: z.object({ order: z.string(), amount: z.number() }),
  needsApproval: true,
  execute: ({ order, amount }) => `Paid back ${amount} for order ${order}.`,
});
const agent = new Agent({
  name: "Shop",
  model: "gpt-4o-mini",
  instructions: "You help the customers of a shop.",
  tools: [refund],
});
const session = new MemorySession({ sessionId: "ada" }); // OpenAIConversationsSession, or your own, keeps it

const say = async (input: string | RunState<undefined, typeof agent>) => {
  const result = await run(agent, input, { session, stream: true });
  for await (const text of result.toTextStream()) process.stdout.write(text);
  await result.completed;
  return result;
};

const { state, interruptions } = await say("Please pay back the 12 euros of order 17.");
for (const interruption of interruptions) state.approve(interruption);
if (interruptions.length > 0) await say(state);
