import type { LlmHandler } from "@colloquy/host";
import type { StrictFamily } from "../../server/strict/strict-server.ts";
import fc from "fast-check";
import { recordOf } from "../../arbitraries/values.ts";
import type { AnswerHead, AnswerStream, EventSink } from "../../server/answer.ts";
import { responsesStream } from "../../server/responses-stream.ts";

/** A handler to check against the law on bytes, and the strict server for its requests. */
export interface WireTarget {
  /** For messages. */
  readonly name: string;
  readonly family: StrictFamily;
  /** The name of the model. Default: one that servers of the family offer. */
  readonly model?: string;
  /** Makes the handler. It must send its requests with this `fetch`. */
  readonly handler: (server: WireServer) => LlmHandler;
}

/** The access of a handler to the strict server. */
export interface WireServer {
  readonly fetch: typeof fetch;
  /** The base URL of the family's real server. */
  readonly baseURL: string;
  readonly apiKey: string;
  readonly model: string;
}

/** The API of a family's server. */
type WireApi = "chat" | "responses" | "messages" | "text";

export const apiOf = (family: StrictFamily): WireApi => apis[family] ?? "chat";

export const serverOf = ({ family, model }: WireTarget, given: typeof fetch): WireServer => {
  const [baseURL, usual] = places[family];
  return { fetch: given, baseURL, apiKey: "none", model: model ?? usual };
};

const apis: { readonly [Family in StrictFamily]?: WireApi } = {
  "openai-responses": "responses",
  "anthropic-messages": "messages",
  "text-completions": "text",
};

/** The base URL of each family, and one of its models. */
const places: { readonly [Family in StrictFamily]: readonly [baseURL: string, model: string] } = {
  "openai-chat": ["https://api.openai.com/v1", "gpt-5"],
  "openai-responses": ["https://api.openai.com/v1", "gpt-5"],
  anthropic: ["https://api.anthropic.com/v1", "claude-sonnet-4-6"],
  "anthropic-messages": ["https://api.anthropic.com/v1", "claude-sonnet-4-6"],
  gemini: ["https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro-preview"],
  mistral: ["https://api.mistral.ai/v1", "mistral-large-latest"],
  deepseek: ["https://api.deepseek.com/v1", "deepseek-reasoner"],
  groq: ["https://api.groq.com/openai/v1", "openai/gpt-oss-120b"],
  "llama.cpp": ["http://127.0.0.1:8080/v1", "any"],
  ollama: ["http://127.0.0.1:11434/v1", "qwen3"],
  vllm: ["http://127.0.0.1:8000/v1", "qwen3"],
  kimi: ["https://api.moonshot.ai/v1", "kimi-k2.5"],
  openrouter: ["https://openrouter.ai/api/v1", "anthropic/claude-sonnet-4.6"],
  "text-completions": ["http://127.0.0.1:8080/v1", "any"],
};

/** A model's reply, in forms that real models have sent. */
export interface OddReply {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly OddCall[];
  readonly finishReason: string | null;
  /** The number of events after which the stream breaks off; null if it does not. */
  readonly cutAfter: number | null;
}

interface OddCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export const oddTextArbitrary: fc.Arbitrary<string> = fc.constantFrom(
  "Hello.",
  "It rains in Oslo.",
  "",
  " ",
  "\n\t",
  "half a pair \ud83d",
  "\udc00",
  "👋 astral",
  "a long answer ".repeat(40),
);

export const oddReplyArbitrary = (tools: readonly string[]): fc.Arbitrary<OddReply> =>
  recordOf({
    text: fc.oneof({ weight: 2, arbitrary: fc.constant("") }, { weight: 3, arbitrary: oddTextArbitrary }),
    reasoning: fc.constantFrom("", "", "Hm.", " "),
    calls: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 3, arbitrary: fc.array(oddCall(tools), { minLength: 1, maxLength: 3 }) },
    ),
    finishReason: fc.constantFrom("stop", "tool_calls", "tool_calls", "length", "content_filter", null),
    cutAfter: fc.option(fc.nat({ max: 6 }), { freq: 5 }),
  });

const oddCall = (tools: readonly string[]): fc.Arbitrary<OddCall> =>
  recordOf({
    id: fc.constantFrom("call_0", "call_0", "call_1", "", "abcDEF123", "a.b:c/d", `call_${"x".repeat(80)}`, "toolu_01"),
    name: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("look", ...tools) },
      fc.constantFrom("no such tool", "x".repeat(70), "", "mcp.look", "1st"),
    ),
    arguments: fc.constantFrom(
      "{}",
      '{"city":"Oslo"}',
      "",
      "{",
      '{"city":"Os',
      "null",
      "[]",
      "7",
      '{"a":"\\ud83d"}',
      '{"$filter":{"filter[id]":"7"},"a b":1}',
      "\ud83d",
    ),
  });

export const eventsOf = (family: StrictFamily, reply: OddReply): string => {
  const events = writers[apiOf(family)](reply, family);
  return (reply.cutAfter === null ? events : events.slice(0, reply.cutAfter)).join("");
};

const data = (value: object, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;

/** Cuts a text in two, sometimes inside a surrogate pair. */
const halves = (text: string): readonly string[] =>
  [text.slice(0, Math.ceil(text.length / 2)), text.slice(Math.ceil(text.length / 2))].filter((half) => half !== "");

const reasoningFields: { readonly [Family in StrictFamily]?: readonly string[] } = {
  deepseek: ["reasoning_content"],
  "llama.cpp": ["reasoning_content"],
  vllm: ["reasoning_content"],
  kimi: ["reasoning_content"],
  groq: ["reasoning"],
  ollama: ["reasoning"],
  openrouter: ["reasoning", "reasoning_details"],
};

const chatEvents = ({ text, reasoning, calls, finishReason }: OddReply, family: StrictFamily): readonly string[] => {
  const fields = reasoning === "" ? [] : (reasoningFields[family] ?? []);
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    data({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, finish_reason }] });
  const details = [{ type: "reasoning.text", text: reasoning, index: 0 }];
  const signed = family === "gemini" ? { extra_content: { google: { thought_signature: "c2lnbmVk" } } } : {};
  return [
    chunk({ role: "assistant", content: "" }),
    ...fields.map((field) => chunk({ [field]: field === "reasoning_details" ? details : reasoning })),
    ...halves(text).map((half) => chunk({ content: half })),
    ...calls.map(({ id, ...called }, index) =>
      chunk({ tool_calls: [{ index, id, type: "function", function: called, ...signed }] }),
    ),
    chunk({}, finishReason),
    "data: [DONE]\n\n",
  ];
};

const loopbackEvents = (
  { text, reasoning, calls, finishReason }: OddReply,
  streamOf: (response: EventSink, head: AnswerHead) => AnswerStream,
): readonly string[] => {
  const events: string[] = [];
  const write = (event: string): void => void events.push(event);
  const stream = streamOf({ writeHead: () => undefined, write, end: write, destroy: () => undefined }, head);
  if (reasoning !== "") stream.send({ type: "reasoning", text: reasoning });
  for (const half of halves(text)) stream.send({ type: "text", text: half });
  for (const [index, call] of calls.entries()) stream.send({ type: "toolCall", index, ...call });
  stream.complete({ type: "completed", reply: { content: text, toolCalls: calls }, finishReason });
  return events;
};

const head: AnswerHead = { id: "odd", created: 0, model: "m" };

const responseEvents = (reply: OddReply): readonly string[] =>
  loopbackEvents(reply, (response, answer) =>
    responsesStream(response, answer, { summaries: true, encrypted: true, echoed: {}, onDone: () => undefined }),
  );

const messageEvents = ({ text, reasoning, calls, finishReason }: OddReply): readonly string[] => {
  const event = (value: { readonly type: string }): string => data(value, value.type);
  const block = (index: number, start: object, deltas: readonly object[]): readonly string[] => [
    event({ type: "content_block_start", index, content_block: start } as { type: string }),
    ...deltas.map((delta) => event({ type: "content_block_delta", index, delta } as { type: string })),
    event({ type: "content_block_stop", index } as { type: string }),
  ];
  const thoughts = [
    { type: "thinking_delta", thinking: reasoning },
    { type: "signature_delta", signature: "c2lnbmVk" },
  ];
  const texts = halves(text).map((half) => ({ type: "text_delta", text: half }));
  const blocks: readonly (readonly [start: object, deltas: readonly object[]])[] = [
    ...(reasoning === "" ? [] : [[{ type: "thinking", thinking: "" }, thoughts] as const]),
    ...(text === "" ? [] : [[{ type: "text", text: "" }, texts] as const]),
    ...calls.map(
      ({ id, name, arguments: written }) =>
        [{ type: "tool_use", id, name, input: {} }, [{ type: "input_json_delta", partial_json: written }]] as const,
    ),
  ];
  const message = { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const reason = calls.length > 0 ? "tool_use" : finishReason === "length" ? "max_tokens" : "end_turn";
  return [
    data({ type: "message_start", message: { ...message, stop_sequence: null, usage } }, "message_start"),
    ...blocks.flatMap(([start, deltas], index) => block(index, start, deltas)),
    data({ type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage }, "message_delta"),
    data({ type: "message_stop" }, "message_stop"),
  ];
};

const textEvents = ({ text, finishReason }: OddReply): readonly string[] => {
  const chunk = (piece: string, finish_reason: string | null): string =>
    data({ id: "c", object: "text_completion", model: "m", choices: [{ index: 0, text: piece, finish_reason }] });
  return [...halves(text).map((half) => chunk(half, null)), chunk("", finishReason), "data: [DONE]\n\n"];
};

const writers: {
  readonly [Api in WireApi]: (reply: OddReply, family: StrictFamily) => readonly string[];
} = {
  chat: chatEvents,
  responses: responseEvents,
  messages: messageEvents,
  text: textEvents,
};
