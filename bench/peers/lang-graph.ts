// LangGraph: a graph of model and tool with its own checkpointer, which keeps in memory what others keep on a disk. Its
// bytes are those of the serialised checkpoints and writes.
import { AIMessage, type BaseMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { answerText, toolArguments, toolResult } from "../kit/script.ts";
import type { OpenPeer } from "./peer.ts";

export const langGraph: OpenPeer = async () => {
  const checkpointer = new MemorySaver();
  let calls = 0;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode("model", ({ messages }: { messages: BaseMessage[] }) => {
      calls++;
      return {
        messages: [
          messages.at(-1) instanceof ToolMessage
            ? new AIMessage(answerText(calls))
            : new AIMessage({
                content: "",
                // Cast: the arguments are those of every peer.
                tool_calls: [
                  { id: `call_${calls}`, name: "lookup", args: JSON.parse(toolArguments(calls)) as { query: string } },
                ],
              }),
        ],
      };
    })
    .addNode("tool", ({ messages }: { messages: BaseMessage[] }) => ({
      messages: callsOf(messages.at(-1)).map(
        ({ id = "" }) => new ToolMessage({ content: toolResult(1), tool_call_id: id, name: "lookup" }),
      ),
    }))
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }: { messages: BaseMessage[] }) =>
      callsOf(messages.at(-1)).length > 0 ? "tool" : END,
    )
    .addEdge("tool", "model")
    .compile({ checkpointer });
  return {
    turn: async (text) =>
      void (await graph.invoke({ messages: [new HumanMessage(text)] }, { configurable: { thread_id: "main" } })),
    close: async () => bytesIn(checkpointer.storage) + bytesIn(checkpointer.writes),
  };
};

const callsOf = (message: BaseMessage | undefined): readonly { readonly id?: string }[] =>
  message instanceof AIMessage ? (message.tool_calls ?? []) : [];

const bytesIn = (kept: unknown): number => {
  if (kept instanceof Uint8Array) return kept.byteLength;
  if (typeof kept !== "object" || kept === null) return 0;
  return Object.values(kept).reduce<number>((bytes, value) => bytes + bytesIn(value), 0);
};
