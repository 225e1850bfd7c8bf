import { createOpenAI } from "@ai-sdk/openai";
import type { LlmHandler } from "@colloquy/host";
import { fromResponseItems } from "@colloquy/interchange";
import {
  type Message,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  type ReplyDraft,
  toolCallsOf,
} from "@colloquy/machine";
import { jinjaTemplate } from "@colloquy/interchange/templates/jinja";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { aiSdkModel } from "../../src/llm/ai-sdk/index.ts";
import { openaiChat, openaiResponses, textCompletion } from "../../src/llm/openai.ts";
import { isObject, listOf } from "../../src/llm/json/loose-json.ts";
import { callOf, handlerFor, outcomeOf, perform } from "./call.ts";
import { type Answer, answeringJson, chatServer, chunkOf, streaming } from "./server.ts";

// Answers and refusals of real servers. Each test replays one report against a server on this machine.

const question = messageFromDraft("1.0", { role: "user", content: "why?" });
const next = messageFromDraft("2.0", { role: "user", content: "And now?" });
const replied = (id: string, reply: ReplyDraft): Message => messageFromReply(id, id, reply);

/** Returns the body that a handler sends for these messages. */
const sent = async (make: (baseURL: string) => LlmHandler, messages: readonly Message[]) => {
  const server = await chatServer(answeringJson({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] }));
  await perform(make(server.baseURL), callOf({ messages })).outcome;
  return server.bodies[0];
};

const chat =
  (model = "m") =>
  (baseURL: string): LlmHandler =>
    openaiChat({ baseURL, apiKey: "none", model, tools: [{ name: "patch" }] });

describe("a custom call", () => {
  const calls = (provider: { readonly [name: string]: string }): readonly Message[] => [
    question,
    replied("1.1", { toolCalls: [{ id: "c1", name: "patch", arguments: "*** Begin", provider }] }),
    messageFromResult({ callId: "1.1.0", providerCallId: "c1", name: "patch" }, "completed", "ok"),
    next,
  ];

  test.each(["m", "mistral-large", "claude-sonnet-4-5", "deepseek-v4", "gemini-3-pro"])(
    "goes to %s as the call of a function, which alone it knows, with its text",
    async (model) => {
      const body = await sent(chat(model), calls({ type: "custom" }));
      expect(JSON.stringify(body)).not.toContain('"type":"custom"');
      const patch = { type: "function", function: { name: "patch", arguments: '{"input":"*** Begin"}' } };
      const called: unknown = expect.objectContaining({ tool_calls: [expect.objectContaining(patch)] });
      expect(body?.["messages"]).toContainEqual(called);
    },
  );

  test("stays one for OpenAI", async () => {
    expect(JSON.stringify(await sent(chat("gpt-5"), calls({ type: "custom" })))).toContain('"type":"custom"');
  });
});

describe("a reply that another API alone can read", () => {
  const items = [
    { type: "message", role: "user", content: "why?" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } },
  ];

  test("is left out of chat completions, also if nobody recorded where it came from", async () => {
    const read = Either.getOrElseW(() => null)(fromResponseItems(items));
    const drafts = read?.turns.flat() ?? [];
    const messages = drafts.map((draft, index) =>
      draft.role === "assistant"
        ? replied(`1.${index}`, draft)
        : messageFromDraft(`1.${index}`, { role: "user", content: "why?" }),
    );
    const body = await sent(chat(), [...messages, next]);
    expect(body?.["messages"]).toEqual([
      { role: "user", content: "why?" },
      { role: "user", content: "And now?" },
    ]);
  });
});

test("items of the Responses API have ids of their own, also if their server repeats them", async () => {
  const call = { type: "function_call", id: "fc_1", name: "look", arguments: "{}", status: "completed" };
  const server = await chatServer((request, response, body) => {
    const output = [{ ...call, call_id: `call_${JSON.stringify(body["input"]).length}` }];
    answeringJson({ id: "r", object: "response", status: "completed", model: "m", output })(request, response, body);
  });
  const handler = openaiResponses({ baseURL: server.baseURL, apiKey: "none", model: "m", stream: false });
  const messages: Message[] = [question];
  for (const id of ["1.1", "1.2", "1.3"]) {
    const outcome = await perform(handler, callOf({ messages: [...messages] })).outcome;
    const reply = outcome.type === "completed" ? outcome.reply : {};
    const [made] = reply.toolCalls ?? [];
    const result = { callId: `${id}.0`, providerCallId: made?.id ?? null, name: "look" };
    messages.push(replied(id, reply), messageFromResult(result, "completed", "x"));
  }
  const ids = JSON.stringify(server.bodies.at(-1)).match(/"id":"fc_1"/g) ?? [];
  expect(ids.length).toBeLessThanOrEqual(1);
});

test.each(["m", "claude-sonnet-4-5", "deepseek-v4", "gemini-3-pro", "gpt-5"])(
  "a greeting that a thread was seeded with follows a marked question, except for OpenAI: %s",
  async (model) => {
    const greeting = { role: "assistant", content: "Hello, I am Bot." };
    const asked = { role: "user", content: "And now?" };
    const body = await sent(chat(model), [replied("s1", { content: greeting.content }), next]);
    const mark = { role: "user", content: "(no text)" };
    expect(body?.["messages"]).toEqual(model === "gpt-5" ? [greeting, asked] : [mark, greeting, asked]);
  },
);

test.each([
  ["gemini-3-pro", false, true],
  ["deepseek-v4", false, true],
  ["gemma-3", true, true],
  ["claude-sonnet-4-5", false, false],
])("a reply after a reply follows a marked question, if %s wants that", async (model, isMarked, isCallMarked) => {
  const told = [replied("1.1", { content: "I look." }), replied("2.1", { content: "Wait." })];
  const call = replied("3.1", { toolCalls: [{ id: "call_1", name: "look", arguments: "{}" }] });
  const results = toolCallsOf(call).map((each) => messageFromResult(each, "completed", "rain"));
  const body = await sent(chat(model), [question, ...told, call, ...results, next]);
  const roles = listOf(body?.["messages"]).map((message) => isObject(message) && message["role"]);
  const [replies, calls] = [isMarked ? ["user"] : [], isCallMarked ? ["user"] : []];
  const end = model === "gemma-3" ? ["tool", "assistant", "user"] : ["tool", "user"];
  expect(roles).toEqual(["user", "assistant", ...replies, "assistant", ...calls, "assistant", ...end]);
});

test.each([
  ["m", "common", false],
  ["m", "llama.cpp", false],
  ["m", "ollama", false],
  ["m", "vllm", false],
  ["kimi-k2", undefined, false],
  ["gemma-3", undefined, false],
  ["gpt-5", undefined, true],
  ["qwen/qwen3", "openrouter-vllm", true],
])(
  "a file in a question and in a result goes only to servers that take it: %s, %s",
  async (model, dialect, isTaken) => {
    const file = { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } };
    const part = { type: "opaque", value: file } as const;
    const call = replied("1.1", { toolCalls: [{ id: "call_1", name: "look", arguments: "{}" }] });
    const results = toolCallsOf(call).map((each) => messageFromResult(each, "completed", [part]));
    const asked = messageFromDraft("2.0", { role: "user", content: [{ type: "text", text: "See" }, part] });
    const make = (baseURL: string): LlmHandler =>
      openaiChat({ baseURL, apiKey: "none", model, ...(dialect === undefined ? {} : { dialect }) });
    const body = await sent(make, [question, call, ...results, asked]);
    const written = JSON.stringify(body?.["messages"]);
    expect(written.split('"type":"file"')).toHaveLength(isTaken ? 3 : 1);
    expect(written.split("a file that can't be shown to this model")).toHaveLength(isTaken ? 1 : 3);
  },
);

test.each([true, false])("a reply with the call of a function of old has that call, streamed: %s", async (stream) => {
  const called = { function_call: { name: "look", arguments: '{"a":1}' } };
  const whole = { choices: [{ index: 0, message: { role: "assistant", ...called }, finish_reason: "function_call" }] };
  const streamed = streaming(chunkOf(called), chunkOf({}, "function_call"));
  const outcome = await outcomeOf(stream ? streamed : answeringJson(whole));
  const toolCalls = [{ id: null, name: "look", arguments: '{"a":1}' }];
  expect(outcome).toMatchObject({ type: "completed", reply: { toolCalls }, finishReason: "function_call" });
});

test("a text completion continues a thread that has an image, which it names in words", async () => {
  const server = await chatServer(answeringJson({ choices: [{ index: 0, text: "ok", finish_reason: "stop" }] }));
  const template = jinjaTemplate("{% for m in messages %}{{ m.content }}\n{% endfor %}");
  const handler = textCompletion({ baseURL: server.baseURL, apiKey: "none", model: "m", template });
  const image = { type: "image" as const, url: "data:image/png;base64,iVBORw0KGgo=" };
  const shown = messageFromDraft("1.0", { role: "user", content: [{ type: "text", text: "See." }, image] });
  const messages = [shown, replied("1.1", { content: "I see." }), next];
  expect(await perform(handler, callOf({ messages })).outcome).toMatchObject({ type: "completed" });
});

test("fields of a server behind the AI SDK go to no other address", async () => {
  const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "SEALED" };
  const text = { type: "output_text", text: "Because.", annotations: [] };
  const said = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [text] };
  const base = { id: "r", object: "response", created_at: 1, model: "m", usage: { input_tokens: 1, output_tokens: 1 } };
  const events = [
    { type: "response.created", response: { ...base, status: "in_progress", output: [] } },
    ...[reasoning, said].flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item },
      ...(item === said
        ? [{ type: "response.output_text.delta", output_index, item_id: "msg_1", content_index: 0, delta: "Because." }]
        : []),
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: { ...base, status: "completed", output: [reasoning, said] } },
  ];
  const stream = streaming(...events);
  const [one, other] = [await chatServer(stream), await chatServer(stream)];
  const options = { openai: { store: false, include: ["reasoning.encrypted_content"] } };
  const handler = ({ baseURL }: { readonly baseURL: string }): LlmHandler =>
    aiSdkModel(createOpenAI({ apiKey: "k", baseURL })("gpt-5"), { providerOptions: options });
  const outcome = await perform(handler(one)).outcome;
  const reply = outcome.type === "completed" ? outcome.reply : {};
  const messages = [question, replied("1.1", reply), next];
  await perform(handler(one), callOf({ messages })).outcome;
  await perform(handler(other), callOf({ messages })).outcome;
  expect(JSON.stringify(one.bodies.at(-1))).toContain("SEALED");
  expect(JSON.stringify(other.bodies.at(-1))).not.toContain("SEALED");
});

describe("an error response", () => {
  const failureOf = async (answer: Answer): Promise<unknown> => {
    const outcome = await outcomeOf(answer);
    return outcome.type === "failed" ? [outcome.failure.kind, outcome.failure.retryable] : "completed";
  };

  test.each([
    // llama.cpp, in the middle of a stream and before it
    [500, { message: "Context size has been exceeded.", type: "server_error" }],
    [500, { message: "context shift is disabled", type: "server_error" }],
    // vLLM
    [400, { message: "max_tokens must be at least 1, got -904. (parameter=max_tokens, value=-904)" }],
    // LMDeploy, TabbyAPI, Cohere
    [400, { message: "input token length 5000 is longer than session_len 4096" }],
    [400, { message: "Prompt length 5000 is greater than max_seq_len 4096" }],
    [400, { message: "message must be shorter than 128000 tokens: total message length is too long" }],
  ])("of status %i with %j is about the length", async (status, error) => {
    expect(await failureOf(answeringJson({ error }, status))).toEqual(["context_length", false]);
  });

  test.each([
    { code: 401, message: "No auth credentials found" },
    { code: "401", message: "Access denied due to invalid subscription key or wrong API endpoint." },
    { message: "Authentication Error, Invalid proxy server token passed.", type: "token_not_found_in_db", code: "400" },
    { code: "1000", message: "Authentication Failed" },
    { message: "token expired or incorrect" },
    { message: "The security token included in the request is invalid." },
    { message: "Unauthorized" },
  ])("of status 400 with %j is about the key", async (error) => {
    expect(await failureOf(answeringJson({ error }, 400))).toEqual(["auth", false]);
  });

  test("about calls that the model wrote badly is retried (Cerebras)", async () => {
    const error = { message: "Failed to generate tool_calls. Please adjust your prompt.", code: "wrong_api_format" };
    expect(await failureOf(answeringJson({ error }, 400))).toEqual(["unknown", true]);
  });
});

test.each([
  [{ choices: null, base_resp: { status_code: 1008, status_msg: "insufficient balance" } }, "rate_limit"],
  [{ error_code: 336103, error_msg: "prompt tokens too long" }, "context_length"],
])(
  "an error with status 200 and without a wrapper fails the call, in a body and in a stream: %j",
  async (error, kind) => {
    for (const answer of [answeringJson(error), streaming(error)])
      expect(await outcomeOf(answer)).toMatchObject({ type: "failed", failure: { kind, retryable: false } });
  },
);

test.each([
  ["null", "stop", { type: "completed", reply: { content: "Hi there" }, finishReason: "stop" }],
  ["null", "network_error", { type: "failed", failure: { kind: "unknown", retryable: true } }],
])("the reason %j with each piece is none, and the last one is %j", async (first, last, expected) => {
  const pieces = [chunkOf({ content: "Hi" }, first), chunkOf({ content: " there" }, first), chunkOf({}, last)];
  expect(await outcomeOf(streaming(...pieces))).toMatchObject(expected);
});

test("an answer with nothing in it whose reason is a full window is a prompt that is too long", async () => {
  const choice = { index: 0, message: { content: "" }, finish_reason: "model_context_window_exceeded" };
  const outcome = await outcomeOf(answeringJson({ choices: [choice] }));
  expect(outcome).toMatchObject({ type: "failed", failure: { kind: "context_length", retryable: false } });
});

test("zeros beside a report of usage do not hide it, wherever both are", async () => {
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const usage = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };
  const choices = [{ index: 0, message: { content: "Hi" }, finish_reason: "stop" }];
  const outcome = await outcomeOf(answeringJson({ choices, usage: zeros, x_groq: { usage } }));
  expect(outcome).toMatchObject({ usage: { inputTokens: 10, outputTokens: 3 } });
});

describe("an answer of the Responses API", () => {
  const call = { type: "function_call", id: "fc_1", call_id: "c", name: "wipe", arguments: "", status: "completed" };
  const reasonOf = async (item: object, more: object = {}): Promise<unknown> => {
    const server = await chatServer(
      answeringJson({ id: "r", object: "response", status: "completed", model: "m", output: [item], ...more }),
    );
    const outcome = await perform(openaiResponses({ baseURL: server.baseURL, apiKey: "none", model: "m" })).outcome;
    return outcome.type === "completed" ? outcome.finishReason : outcome.failure;
  };

  test("was cut if a call in it is not complete, or its details say so, whatever its status", async () => {
    expect(await reasonOf(call)).toBe("tool_calls");
    expect(await reasonOf({ ...call, status: "in_progress" })).toBe("incomplete");
    expect(await reasonOf({ ...call, status: "in_progress", arguments: "{}" })).toBe("tool_calls");
    expect(await reasonOf(call, { incomplete_details: { reason: "max_output_tokens" } })).toBe("length");
    const message = { type: "message", role: "assistant", status: "in_progress", content: "Hi" };
    expect(await reasonOf(message)).toBe("stop");
  });
});

describe("the schema of a tool", () => {
  const sentSchema = async (a: object): Promise<unknown> => {
    const server = await chatServer(
      answeringJson({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] }),
    );
    const tool = { name: "t", parameters: { type: "object", properties: { a: { ...a } } } };
    const handler = openaiChat({ baseURL: server.baseURL, apiKey: "none", model: "m", tools: [tool] });
    await perform(handler, callOf({ tools: [{ name: "t", digest: "d" }] })).outcome;
    return JSON.parse(JSON.stringify(server.bodies[0]?.["tools"] ?? [])) as unknown;
  };

  test.each([
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
    { type: "array", items: [{ type: "string" }, { type: "number" }] },
  ])("has one schema for the items of a tuple: %j", async (a) => {
    const schema = { properties: { a: { items: expect.not.arrayContaining([{ type: "number" }]) as unknown } } };
    expect(await sentSchema(a)).toMatchObject([{ function: { parameters: schema } }]);
  });

  test("has an empty object for true, which Gemini and llama.cpp refuse", async () => {
    const text = JSON.stringify(await sentSchema({ type: "array", items: true }));
    expect(text).toContain('"items":{}');
  });
});

describe("a streamed reply", () => {
  const messageOf = async (...chunks: readonly object[]): Promise<ReplyDraft> => {
    const outcome = await outcomeOf(streaming(...chunks));
    return outcome.type === "completed" ? outcome.reply : {};
  };
  const piece = (entry: object): object => chunkOf({ tool_calls: [entry] });
  const ended = chunkOf({}, "tool_calls");

  test.each(["content", "reasoning", "refusal"])("shows no half of a character, if %s is cut there", async (field) => {
    const half = (text: string): object => chunkOf({ [field]: text });
    const end = chunkOf({ content: "d" }, "stop");
    const server = await chatServer(streaming(half("a\ud83d"), half("\ude00b"), half("c\ud83d"), end));
    const { outcome, deltas } = perform(handlerFor(server.baseURL));
    expect(await outcome).toMatchObject({ type: "completed" });
    const texts = deltas.flatMap((delta) => (delta.type === "toolCall" ? [] : delta.text));
    expect(texts.join("")).toMatch(/^a😀bc(d\ud83d|\ud83dd)$/);
    expect(texts.slice(0, 2)).toEqual(["a", "😀b"]);
  });

  test("shows no half of a character of arguments", async () => {
    const part = (text: string): object => piece({ index: 0, id: "a", function: { name: "look", arguments: text } });
    const server = await chatServer(streaming(part('{"a":"\ud83d'), part('\ude00"'), part("}"), ended));
    const { outcome, deltas } = perform(handlerFor(server.baseURL));
    await outcome;
    const shown = deltas.map((delta) => (delta.type === "toolCall" ? delta.arguments : ""));
    expect(shown.every((each) => each.isWellFormed())).toBe(true);
    expect(shown.join("")).toBe('{"a":"😀"}');
  });

  test("has two calls if their indexes differ, although their server gives both one id", async () => {
    const reply = await messageOf(
      piece({ index: 0, id: "c", function: { name: "look", arguments: "" } }),
      piece({ index: 0, function: { arguments: '{"a":1}' } }),
      piece({ index: 1, id: "c", function: { name: "look", arguments: "" } }),
      piece({ index: 1, function: { arguments: '{"a":2}' } }),
      ended,
    );
    expect(reply.toolCalls?.map((call) => call.arguments)).toEqual(['{"a":1}', '{"a":2}']);
  });

  test.each([
    // Each piece repeats everything so far.
    ['{"a":"Os', '{"a":"Oslo"', '{"a":"Oslo"}'],
    // Encoded twice.
    [String.raw`"{\"a\":\"Os`, String.raw`lo\"}"`],
    ['{"a":"Os', 'lo"}'],
  ])("has one object of the arguments %j %s %s", async (...pieces) => {
    const id = (index: number): object => (index === 0 ? { id: "c" } : {});
    const reply = await messageOf(
      ...pieces.map((given, index) =>
        piece({ index: 0, ...id(index), function: { name: index === 0 ? "look" : null, arguments: given } }),
      ),
      ended,
    );
    expect(reply.toolCalls).toMatchObject([{ name: "look", arguments: '{"a":"Oslo"}' }]);
  });

  test.each([
    // OpenRouter
    [{ finish_reason: "tool_calls", native_finish_reason: "MAX_TOKENS" }],
    [{ finish_reason: "tool_calls" }, { finish_reason: "MAX_TOKENS" }],
  ])("was cut if a reason of %j %j says so", async (...reasons) => {
    const ends = reasons.map((reason) => ({ choices: [{ index: 0, delta: {}, ...reason }] }));
    const call = piece({ index: 0, id: "c", function: { name: "wipe", arguments: "" } });
    expect(await outcomeOf(streaming(call, ...ends))).toMatchObject({ finishReason: "MAX_TOKENS" });
  });

  test.each(["null", '""'])("has the arguments that follow %s", async (first) => {
    const reply = await messageOf(
      piece({ index: 0, id: "c", function: { name: "look", arguments: first } }),
      piece({ index: 0, function: { arguments: '{"a":1}' } }),
      ended,
    );
    expect(reply.toolCalls?.map((call) => call.arguments)).toEqual(['{"a":1}']);
  });

  test("has its text once if the chunk that ends it repeats the whole of it", async () => {
    const reply = await messageOf(
      chunkOf({ content: "Hello " }),
      chunkOf({ content: "there, " }),
      chunkOf({ content: "Ada." }),
      chunkOf({ content: "Hello there, Ada." }, "stop"),
    );
    expect(reply.content).toBe("Hello there, Ada.");
  });
});
