// The app of docs/coming-from.md with LangGraph: type-checked, not run.
import { AIMessageChunk, type BaseMessageLike, SystemMessage } from "@langchain/core/messages";
import type { Runnable } from "@langchain/core/runnables";
import { tool } from "@langchain/core/tools";
import { Command, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode, toolsCondition } from "@langchain/langgraph/prebuilt";
import { z } from "zod";

const refund = tool(
  ({ order, amount }) => {
    const approved: unknown = interrupt({ tool: "refund", order, amount });
    return approved === true ? `Paid back ${amount} for order ${order}.` : "It was not approved.";
  },
  {
    name: "refund",
    description: "Pays money back to a customer.",
    schema: z.object({ order: z.string(), amount: z.number() }),
  },
);
declare const model: Runnable<BaseMessageLike[], AIMessageChunk>; // new ChatOpenAI({ model }).bindTools([refund])

const system = new SystemMessage("You help the customers of a shop.");
const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", async ({ messages }) => ({ messages: [await model.invoke([system, ...messages])] }))
  .addNode("tools", new ToolNode([refund]))
  .addEdge(START, "model")
  .addConditionalEdges("model", toolsCondition)
  .addEdge("tools", "model")
  .compile({ checkpointer: new MemorySaver() }); // PostgresSaver, SqliteSaver, … keep it

const thread = { configurable: { thread_id: "ada" } };

const say = async (input: Parameters<typeof graph.stream>[0]): Promise<void> => {
  for await (const [chunk] of await graph.stream(input, { ...thread, streamMode: "messages" })) {
    if (AIMessageChunk.isInstance(chunk)) process.stdout.write(chunk.text);
  }
};

await say({ messages: [{ role: "user", content: "Please pay back the 12 euros of order 17." }] });
const { tasks } = await graph.getState(thread);
if (tasks.some(({ interrupts }) => interrupts.length > 0)) await say(new Command({ resume: true }));
