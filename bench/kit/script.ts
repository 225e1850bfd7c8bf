// The work that all benchmarks here measure: a turn of four messages of some 200 characters, in which a model calls one
// tool and then answers. The model is in process, has no latency, and reads only the last message. This file imports
// nothing of ours, since the process of a peer must not load it.

const filling =
  "the quick brown fox jumps over the lazy dog and runs far away from here while the sun is setting ".repeat(3);

const padded = (head: string, length = 200): string => (head + filling).slice(0, length);

export const systemText = "You look things up and answer briefly.";
export const userText = (turn: number): string => padded(`user message ${turn}: `);
export const toolArguments = (call: number): string => JSON.stringify({ query: padded(`query ${call}: `, 185) });
export const toolResult = (call: number): string => padded(`result ${call}: `);
export const answerText = (call: number): string => padded(`answer ${call}: `);

export const toolName = "lookup";
export const toolDescription = "Looks a thing up.";

export type ScriptedReply =
  | { readonly type: "answer"; readonly text: string }
  | { readonly type: "toolCall"; readonly id: string; readonly arguments: string };

/** The replies of the model, the same for every caller: it calls the tool, and answers once it sees a result. */
export class Script {
  calls = 0;
  /** The number of messages in the last prompt, without the system message. */
  shown = 0;
  /** The same number for all prompts together. */
  shownInAll = 0;

  reply(shown: number, afterResult: boolean): ScriptedReply {
    this.shown = shown;
    this.shownInAll += shown;
    const call = ++this.calls;
    return afterResult
      ? { type: "answer", text: answerText(call) }
      : { type: "toolCall", id: `call_${call}`, arguments: toolArguments(call) };
  }
}

export interface PlainMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly PlainCall[];
  readonly tool_call_id?: string;
}

export interface PlainCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

export const plainReply = async (script: Script, messages: readonly PlainMessage[]): Promise<PlainMessage> => {
  const reply = script.reply(messages.length, messages.at(-1)?.role === "tool");
  return reply.type === "answer"
    ? { role: "assistant", content: reply.text }
    : {
        role: "assistant",
        content: null,
        tool_calls: [{ id: reply.id, function: { name: toolName, arguments: reply.arguments } }],
      };
};

export const plainResult = async (call: PlainCall): Promise<PlainMessage> => {
  JSON.parse(call.function.arguments);
  return { role: "tool", tool_call_id: call.id, content: toolResult(1) };
};
