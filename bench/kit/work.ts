// The work that everything here measures: a turn of four messages of some 200 characters, in which a model calls
// one tool and then answers. The model is in process, has no latency, and looks only at the last message.
import { declarationsOf, type LlmHandler, tool } from "@colloquy/host";
import { type ConversationMachine, conversationMachine, type MachineOptions } from "@colloquy/machine";

const filling =
  "the quick brown fox jumps over the lazy dog and runs far away from here while the sun is setting ".repeat(3);

const padded = (head: string, length = 200): string => (head + filling).slice(0, length);

export const userText = (turn: number): string => padded(`user message ${turn}: `);
export const toolArguments = (call: number): string => JSON.stringify({ query: padded(`query ${call}: `, 185) });
export const toolResult = (call: number): string => padded(`result ${call}: `);
export const answerText = (call: number): string => padded(`answer ${call}: `);

/** The tool, as a host has it. */
export const lookup = tool({
  name: "lookup",
  description: "Looks a thing up.",
  input: { jsonSchema: { type: "object", properties: { query: { type: "string" } } } },
  run: () => toolResult(1),
});

/** A machine that declares the tool. */
export const lookupMachine = (options: MachineOptions = {}): ConversationMachine =>
  conversationMachine({ tools: declarationsOf([lookup]), ...options });

/** A model without latency: it calls the tool, and answers once it sees a result. */
export const instantModel = (): LlmHandler => {
  let calls = 0;
  return async (call) => {
    calls++;
    const usage = { inputTokens: 100, outputTokens: 50, totalTokens: 150 };
    return call.messages.at(-1)?.role === "tool"
      ? { type: "completed", reply: { content: answerText(calls) }, finishReason: "stop", usage }
      : {
          type: "completed",
          reply: { toolCalls: [{ id: `call_${calls}`, name: "lookup", arguments: toolArguments(calls) }] },
          finishReason: "tool_calls",
          usage,
        };
  };
};

/** A message as a hand-written loop keeps it. */
export interface PlainMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
  readonly tool_call_id?: string;
}

/** The same turn as one writes it by hand: an array, and a loop. `kept` is called with each message as it is added. */
export const plainTurn = async (
  messages: PlainMessage[],
  text: string,
  kept: (message: PlainMessage) => void,
): Promise<string> => {
  const add = (message: PlainMessage): void => {
    messages.push(message);
    kept(message);
  };
  add({ role: "user", content: text });
  for (;;) {
    const reply = await plainModel(messages);
    add(reply);
    if (reply.tool_calls === undefined) return reply.content ?? "";
    for (const call of reply.tool_calls) {
      JSON.parse(call.function.arguments);
      add({ role: "tool", tool_call_id: call.id, content: await plainTool() });
    }
  }
};

const plainModel = async (messages: readonly PlainMessage[]): Promise<PlainMessage> => {
  const calls = messages.length;
  return messages.at(-1)?.role === "tool"
    ? { role: "assistant", content: answerText(calls) }
    : {
        role: "assistant",
        content: null,
        tool_calls: [{ id: `call_${calls}`, function: { name: "lookup", arguments: toolArguments(calls) } }],
      };
};

const plainTool = async (): Promise<string> => toolResult(1);

/** What a streamed reply consists of: a thousand pieces, as tokens are. */
export const deltas: readonly string[] = Array.from({ length: 1000 }, (_, index) => ` tok${index % 97}`);

export const streamedText: string = deltas.join("");
