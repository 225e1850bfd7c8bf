import { fails, reply, scriptedModel, type ScriptLine, streams, toolCalls } from "@colloquy/runtime-test/models";
import type OpenAI from "openai";
import { expect, test } from "vitest";
import { lookUp, refund, responding, respondingOf, streamed, weather } from "./responding.ts";

const call = (name: string, given: Readonly<Record<string, string>>) => ({ toolCall: { name, arguments: given } });

const begun = ["created", "in_progress"];
const textItem = ["output_item.added", "content_part.added", "output_text.delta", "output_text.done"];
const text = [...textItem, "content_part.done", "output_item.done"];
const reasoning = [
  "output_item.added",
  "reasoning_summary_part.added",
  "reasoning_summary_text.delta",
  "reasoning_summary_text.done",
  "reasoning_summary_part.done",
  "output_item.done",
];
const refusal = [
  "output_item.added",
  "content_part.added",
  "refusal.delta",
  "refusal.done",
  "content_part.done",
  "output_item.done",
];
const functionCall = [
  "output_item.added",
  "function_call_arguments.delta",
  "function_call_arguments.done",
  "output_item.done",
];
const mcpCall = (end: "completed" | "failed"): readonly string[] => [
  "output_item.added",
  "mcp_call.in_progress",
  "mcp_call_arguments.delta",
  "mcp_call_arguments.done",
  `mcp_call.${end}`,
  "output_item.done",
];
const approval = ["output_item.added", "output_item.done"];
const overloaded = { kind: "overloaded", message: "busy" } as const;

const orders: readonly (readonly [string, readonly ScriptLine[], readonly string[]])[] = [
  ["a text", [reply("Hello.")], [...begun, ...text, "completed"]],
  ["nothing", [reply("")], [...begun, "completed"]],
  ["reasoning, then a text", [streams([{ reasoning: "Hm." }, "Yes."])], [...begun, ...reasoning, ...text, "completed"]],
  ["a refusal", [streams([{ refusal: "No." }])], [...begun, ...refusal, "completed"]],
  [
    "a call of the caller's",
    [toolCalls([{ name: "look_up", arguments: { id: "7" } }])],
    [...begun, ...functionCall, "completed"],
  ],
  [
    "a text, a tool that runs here, and a text",
    [streams(["Let me see.", call("weather", { city: "Oslo" })]), reply("Rain.")],
    [...begun, ...text, ...mcpCall("completed"), ...text, "completed"],
  ],
  [
    "a tool that is called with what does not fit",
    [streams([call("weather", { town: "Oslo" })]), reply("Sorry.")],
    [...begun, ...mcpCall("failed"), ...text, "completed"],
  ],
  [
    "a call that waits for approval",
    [streams([call("refund", { order: "A1" })])],
    [...begun, ...approval, "completed"],
  ],
  [
    "a tool of each kind at once",
    [streams([call("weather", { city: "Oslo" }), call("look_up", { id: "7" })])],
    [...begun, ...functionCall, ...mcpCall("completed"), "completed"],
  ],
  ["an answer that is cut off", [reply("It was", { finishReason: "length" })], [...begun, ...text, "incomplete"]],
  ["a failure", [fails({ kind: "auth", message: "no" })], [...begun, "error", "failed"]],
  [
    "a failure in mid-text",
    [fails({ kind: "auth", message: "no" }, { partial: "It was" })],
    [...begun, ...text, "error", "failed"],
  ],
  [
    "a failure in mid-text that is tried again",
    [fails(overloaded, { partial: "It w" }), reply("It was.")],
    [...begun, ...text, ...text, "completed"],
  ],
];

const served = (script: readonly ScriptLine[]) => {
  const machine = { retry: { attempts: 2, baseDelayMs: 0, maxDelayMs: 0 } };
  return responding(scriptedModel(script), { tools: [weather, refund], machine });
};

/** Returns the types of events, with consecutive deltas of an item as one. */
const typesOf = (events: readonly OpenAI.Responses.ResponseStreamEvent[]): readonly string[] =>
  events
    .map(({ type }) => type.replace(/^response\./u, ""))
    .filter((type, index, all) => !type.endsWith(".delta") || all[index - 1] !== type);

test.each(orders)("the events of %s come in the order of the Responses API", async (_, script, order) => {
  const { server } = served(script);
  const events = await streamed(server, "/v1/responses", { model: "any", input: "Hi", tools: [lookUp], stream: true });
  expect(typesOf(events)).toEqual(order);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index));
});

test("a call of the caller's that was cut is neither output nor ended, since clients run what is", async () => {
  const cut = toolCalls([{ name: "look_up", arguments: { id: "7" } }], { finishReason: "length" });
  const { server } = served([cut, reply("Which?")]);
  const events = await streamed(server, "/v1/responses", { model: "any", input: "Hi", tools: [lookUp], stream: true });
  const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item.type] : []));
  expect(done).toEqual(["message"]);
  expect(events.at(-1)).toMatchObject({ response: { status: "completed", output: [{ type: "message" }] } });
});

test.each([
  ["length", "max_output_tokens"],
  ["max_tokens", "max_output_tokens"],
  ["MAX_TOKENS", "max_output_tokens"],
  ["model_length", "max_output_tokens"],
  ["model_context_window_exceeded", "max_output_tokens"],
  ["content_filter", "content_filter"],
  ["SAFETY", "content_filter"],
  ["guardrail_intervened", "content_filter"],
])("an answer that ended with %s is incomplete, and so is its last item, wherever it is read", async (reason, why) => {
  const { host, server } = served([streams([{ reasoning: "Hm." }, "It was"], { finishReason: reason })]);
  const events = await streamed(server, "/v1/responses", { model: "any", input: "Hi", stream: true });
  const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
  const last = events.at(-1);
  if (last?.type !== "response.incomplete") throw new Error(`it ended with ${last?.type}`);
  const { id, conversation, output } = last.response;
  expect(output).toMatchObject([
    { type: "reasoning", status: "completed" },
    { type: "message", status: "incomplete" },
  ]);
  expect(done).toEqual(output);
  // Another process, which reads the journal.
  const { client } = respondingOf(host);
  expect(await client.responses.retrieve(id)).toMatchObject({ incomplete_details: { reason: why }, output });
  const { data } = await client.conversations.items.list(conversation?.id ?? "", { order: "asc" });
  expect(data.slice(1)).toEqual(output);
});

test("what a failed attempt said ends as incomplete, and is no output", async () => {
  const { server } = served([fails(overloaded, { partial: "It w" }), reply("It was.")]);
  const events = await streamed(server, "/v1/responses", { model: "any", input: "Hi", stream: true });
  const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event] : []));
  expect(done.map(({ output_index: index, item }) => [index, "status" in item && item.status])).toEqual([
    [0, "incomplete"],
    [1, "completed"],
  ]);
  expect(events.at(-1)).toMatchObject({ response: { output: [{ content: [{ text: "It was." }] }] } });
});

// The members that the schema of Open Responses requires, in its order.
const required =
  "id object created_at completed_at status incomplete_details model previous_response_id instructions output error tools tool_choice truncation parallel_tool_calls text top_p presence_penalty frequency_penalty top_logprobs temperature reasoning usage max_output_tokens max_tool_calls store background service_tier metadata safety_identifier prompt_cache_key".split(
    " ",
  );
const neverNull =
  "temperature top_p presence_penalty frequency_penalty top_logprobs truncation tool_choice tools background service_tier".split(
    " ",
  );

test.each([
  ["completed", null, [reply("Hello.")]],
  ["failed", null, [fails({ kind: "auth", message: "no" })]],
  ["incomplete", { reason: "max_output_tokens" }, [reply("It", { finishReason: "length" })]],
  ["incomplete", { reason: "content_filter" }, [fails({ kind: "content_filter", message: "no" })]],
] as const)(
  "a response that is %s, by %j, has the 31 members that the schema requires",
  async (status, why, script) => {
    const { client } = served(script);
    const response: object = await client.responses.create({ model: "any", input: "Hi" });
    expect(response).toMatchObject({ status, incomplete_details: why });
    expect(Reflect.get(response, "completed_at") === null).toBe(status !== "completed");
    expect(required.length).toBe(31);
    expect(Object.keys(response)).toEqual(expect.arrayContaining(required));
    for (const name of neverNull) expect(Reflect.get(response, name)).not.toBeNull();
  },
);

test("what a request leaves out of its parameters, its response says", async () => {
  const { client } = served([reply("{}")]);
  const image = { type: "input_image", image_url: "https://example.com/a.png" } as const;
  // `post` is untyped: the client's type requires members that servers fill in.
  const response: OpenAI.Responses.Response = await client.post("/responses", {
    body: {
      input: [{ role: "user", content: [image] }],
      reasoning: { effort: "low" },
      text: { format: { type: "json_schema", name: "answer", schema: { type: "object" } } },
    },
  });
  expect(response.reasoning).toEqual({ effort: "low", summary: null });
  expect(response).toMatchObject({
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    truncation: "disabled",
    tool_choice: "auto",
    parallel_tool_calls: true,
    store: true,
    background: false,
  });
  expect(response.text?.format).toMatchObject({ name: "answer", description: null, strict: false });
  const { data } = await client.responses.inputItems.list(response.id);
  expect(data).toMatchObject([{ content: [{ ...image, detail: "auto" }] }]);
});

test("tools that are allowed reach a model for chat completions in its words", async () => {
  const model = scriptedModel([reply("Yes.")]);
  const { client } = responding(model);
  const named = { type: "function", name: "look_up" } as const;
  const choice = { type: "allowed_tools", mode: "required", tools: [named] } as const;
  await client.responses.create({
    model: "any",
    input: "Hi",
    tools: [lookUp],
    tool_choice: { ...choice, tools: [named] },
  });
  expect(model.calls[0]?.model["tool_choice"]).toEqual({
    type: "allowed_tools",
    allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "look_up" } }] },
  });
});
