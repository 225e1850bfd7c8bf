import type { ServerResponse } from "node:http";
import type { LlmHandler } from "@colloquy/host";
import type { CallLlm, ToolDeclaration } from "@colloquy/machine";
import { openaiResponses } from "../../src/llm/openai.ts";
import { callOf as call, testClock } from "./call.ts";
import { type Answer, begin, chatServer, eventOf } from "./server.ts";

// Answers of a server of the Responses API.

const usage = {
  input_tokens: 5,
  output_tokens: 7,
  total_tokens: 12,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 3 },
};

export const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [
    { type: "summary_text", text: "Look it up." },
    { type: "summary_text", text: "Then say." },
  ],
  encrypted_content: "ENC",
};

export const messageOf = (text: string, fields: object = {}) => ({
  type: "message",
  id: "msg_1",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
  ...fields,
});

export const callOf = (id: string, city: string) => ({
  type: "function_call",
  id: `fc_${id}`,
  call_id: id,
  name: "weather",
  arguments: JSON.stringify({ city }),
  status: "completed",
});

export type Item = { readonly type: string };

export const responseOf = (output: readonly object[], fields: object = {}) => ({
  id: "resp_1",
  object: "response",
  model: "model-1",
  status: "completed",
  error: null,
  incomplete_details: null,
  output,
  usage,
  ...fields,
});

/** Returns the events of an item, with these pieces. */
export const eventsOf = (item: Item, index: number, ...pieces: readonly object[]): readonly object[] => [
  { type: "response.output_item.added", output_index: index, item: begunOf(item) },
  ...pieces.map((piece) => ({ item_id: `of ${index}`, output_index: index, ...piece })),
  { type: "response.output_item.done", output_index: index, item },
];

/** Returns an item as it begins: incomplete. */
const begunOf = (item: Item): object => ({
  ...item,
  status: "in_progress",
  ...("encrypted_content" in item ? { encrypted_content: "half", summary: [] } : {}),
  ...("arguments" in item ? { arguments: "" } : {}),
  ...("content" in item ? { content: [] } : {}),
});

export const textDelta = (delta: string) => ({ type: "response.output_text.delta", content_index: 0, delta });
export const summaryDelta = (delta: string, index = 0) => ({
  type: "response.reasoning_summary_text.delta",
  summary_index: index,
  delta,
});
export const argumentsDelta = (delta: string) => ({ type: "response.function_call_arguments.delta", delta });

export const created = { type: "response.created", response: responseOf([], { status: "in_progress", usage: null }) };
export const ended = (output: readonly object[], fields: object = {}, type = "completed") => ({
  type: `response.${type}`,
  response: responseOf(output, { status: type, ...fields }),
});

/** Sends these events, and ends. */
export const streaming =
  (...events: readonly object[]) =>
  (_: unknown, response: ServerResponse): void => {
    begin(response);
    response.end(events.map(eventOf).join(""));
  };

/** Makes a handler. All servers share one base URL, so that the answers of one go back to any of them. */
export const handlerFor = (url: string): LlmHandler => {
  const baseURL = "https://models.example/v1";
  return openaiResponses({
    baseURL,
    apiKey: "sk-test-key-0123456789",
    model: "model-1",
    fetch: (to, init) => fetch((to instanceof Request ? to.url : String(to)).replace(baseURL, url), init),
  });
};

/** Makes one call. Returns its outcome and its request. */
export const exchange = async (
  answer: Answer,
  fields: Partial<CallLlm> = {},
  tools: readonly ToolDeclaration[] = [],
) => {
  const { baseURL, bodies } = await chatServer(answer);
  const deltas: unknown[] = [];
  const outcome = await handlerFor(baseURL)(call(fields), {
    signal: new AbortController().signal,
    onDelta: (delta) => deltas.push(delta),
    clock: testClock(),
    tools,
  });
  return { outcome, deltas, bodies, sent: bodies.at(-1) ?? {} };
};

export const weather: ToolDeclaration = {
  name: "weather",
  version: "1",
  description: "The weather.",
  parameters: { type: "object" },
};

export const offered = { tools: [{ name: "weather", digest: "d" }] };

export const said = messageOf("Sunny.", { phase: "final_answer" });

/** A minimal answer. */
export const answered = streaming(ended([messageOf("ok")]));
