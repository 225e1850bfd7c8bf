import { type Message, messageFromDraft, messageFromReply } from "@colloquy/machine";
import { gateway } from "ai";
import { describe, expect, test } from "vitest";
import { aiSdkModel } from "../../../src/llm/ai-sdk/index.ts";
import { perform } from "../call.ts";
import { ask, finish, modelOf, type Piece, text } from "./mock.ts";

const weather = { name: "weather", description: "The weather", parameters: { type: "object", properties: {} } };
const call = (id: string, input: string, name = "weather"): Piece => ({
  type: "tool-call",
  toolCallId: id,
  toolName: name,
  input,
});

describe("an answer", () => {
  test("comes piece by piece, with usage, model and id as they were reported", async () => {
    const named: Piece = { type: "response-metadata", id: "r1", modelId: "model-1-2026" };
    const thought: readonly Piece[] = [
      { type: "reasoning-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "Hm" },
      { type: "reasoning-end", id: "0", providerMetadata: { p: { signature: "S==" } } },
    ];
    const model = modelOf([named, ...thought, ...text("Sun", "ny."), finish("stop", "end_turn")]);
    const { outcome, deltas } = await ask(aiSdkModel(model));
    expect(deltas).toEqual([
      { type: "reasoning", text: "Hm" },
      { type: "text", text: "Sun" },
      { type: "text", text: "ny." },
    ]);
    expect(outcome).toEqual({
      type: "completed",
      reply: {
        content: [
          { type: "reasoning", text: "Hm", provider: { ai: { p: { signature: "S==" } } } },
          { type: "text", text: "Sunny." },
        ],
        provider: { origin: "mock-provider model" },
      },
      finishReason: "stop",
      usage: {
        inputTokens: 10,
        outputTokens: 7,
        totalTokens: 17,
        cacheReadTokens: 4,
        cacheWriteTokens: 0,
        provider: { service_tier: "standard" },
      },
      model: "model-1-2026",
      responseId: "r1",
    });
  });

  test("calls tools with arguments as they were written, whole or in pieces, valid or not", async () => {
    const written = '{"city": "Oslo", "days": 1.0}';
    const model = modelOf([
      { type: "tool-input-start", id: "a", toolName: "weather" },
      { type: "tool-input-delta", id: "a", delta: '{"city": "Oslo",' },
      { type: "tool-input-start", id: "b", toolName: "weather" },
      { type: "tool-input-delta", id: "a", delta: ' "days": 1.0}' },
      { type: "tool-input-delta", id: "b", delta: '{"city' },
      call("b", '{"city'),
      call("a", written),
      call("c", "", "unknown"),
      finish("tool-calls"),
    ]);
    const { outcome, deltas } = await ask(aiSdkModel(model), { tools: [{ name: "weather", digest: "d" }] }, [weather]);
    const calls = [
      { id: "a", name: "weather", arguments: written },
      { id: "b", name: "weather", arguments: '{"city' },
      { id: "c", name: "unknown", arguments: "{}" },
    ];
    expect(outcome).toMatchObject({ type: "completed", reply: { toolCalls: calls }, finishReason: "tool-calls" });
    const shown = calls.map((_, index) =>
      deltas.flatMap((delta) => (delta.type === "toolCall" && delta.index === index ? [delta] : [])),
    );
    expect(shown.map((pieces) => pieces.map((piece) => piece.arguments).join(""))).toEqual(
      calls.map((each) => each.arguments),
    );
    expect(shown.map(([first]) => first?.id)).toEqual(["a", "b", "c"]);
    expect(shown[0]?.map((piece) => piece.arguments)).toEqual(["", '{"city": "Oslo",', ' "days": 1.0}']);
  });

  test("shows the arguments of a call that began and then came whole", async () => {
    const begun: Piece = { type: "tool-input-start", id: "a", toolName: "weather" };
    const { deltas } = await ask(aiSdkModel(modelOf([begun, call("a", '{"x":1}'), finish("tool-calls")])));
    expect(deltas.map((delta) => delta.type === "toolCall" && delta.arguments)).toEqual(["", '{"x":1}']);
  });

  test("has each call once, though ids repeat or a call was never whole, and a text for each id", async () => {
    const model = modelOf([
      { type: "tool-input-start", id: "cut", toolName: "weather" },
      call("a", '{"x":1}'),
      call("a", '{"x":2}'),
      call("b", " "),
      ...text("", "Sun", "ny."),
      { type: "text-delta", id: "2", delta: "Warm." },
      { type: "reasoning-delta", id: "2", delta: "Hm" },
      finish("error", "boom"),
    ]);
    const { outcome, deltas } = await ask(aiSdkModel(model));
    expect(deltas.flatMap((delta) => (delta.type === "toolCall" ? [[delta.index, delta.arguments]] : []))).toEqual([
      [0, ""],
      [1, '{"x":1}'],
      [2, '{"x":2}'],
      [3, "{}"],
    ]);
    expect(outcome).toMatchObject({
      partial: {
        content: [
          { type: "text", text: "Sunny." },
          { type: "text", text: "Warm." },
          { type: "reasoning", text: "Hm" },
        ],
      },
      usage: { inputTokens: 10 },
    });
    expect(deltas.filter(({ type }) => type !== "toolCall").map((delta) => "text" in delta && delta.text)).toEqual([
      "Sun",
      "ny.",
      "Warm.",
      "Hm",
    ]);
    const cut: Piece = { type: "tool-input-start", id: "cut", toolName: "weather" };
    const calls = [cut, call("a", '{"x": 1}'), call("a", '{"x": 2}')];
    const whole = await ask(aiSdkModel(modelOf([...calls, finish("tool-calls")])));
    const given = whole.outcome.type === "completed" ? whole.outcome.reply.toolCalls : [];
    expect(given?.map((each) => each.arguments)).toEqual(['{"x": 1}', '{"x": 2}']);
  });

  test.each([
    ["stop", "end_turn", "stop"],
    ["other", "odd_reason", "odd_reason"],
    ["length", "model_context_window_exceeded", "model_context_window_exceeded"],
    ["length", "max_tokens", "length"],
  ] as const)("that ends for %s, and for %s as the provider says, ended for %s", async (unified, raw, finishReason) => {
    const { outcome } = await ask(aiSdkModel(modelOf([...text("Hi"), finish(unified, raw)])));
    expect(outcome).toMatchObject({ finishReason });
  });

  test("keeps what the provider ran by itself, files and sources, and shows no call of it", async () => {
    const model = modelOf([
      { type: "tool-input-start", id: "s", toolName: "search", providerExecuted: true },
      { type: "tool-input-delta", id: "s", delta: "{}" },
      { type: "tool-call", toolCallId: "s", toolName: "search", input: "{}", providerExecuted: true, dynamic: true },
      { type: "tool-result", toolCallId: "s", toolName: "search", result: { hits: 1 }, dynamic: true },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "iVBORw0KGgo=" } },
      { type: "source", sourceType: "url", id: "1", url: "https://example.org/", title: "Example" },
      ...text("Found."),
      finish("stop"),
    ]);
    const { outcome, deltas } = await ask(aiSdkModel(model));
    expect(deltas).toEqual([{ type: "text", text: "Found." }]);
    const foreign = (format: string, value: object) => ({ type: "opaque", value: { type: "foreign", format, value } });
    const source = { type: "source-url", sourceId: "1", url: "https://example.org/", title: "Example" };
    expect(outcome).toMatchObject({
      reply: {
        content: [
          foreign("model", { type: "tool-call", toolCallId: "s", providerExecuted: true }),
          foreign("model", { type: "tool-result", toolCallId: "s", output: { type: "json", value: { hits: 1 } } }),
          { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" },
          { type: "text", text: "Found." },
          foreign("ui", source),
        ],
      },
    });
    expect(outcome).not.toHaveProperty("reply.toolCalls");
    // The id of a source is not that of the answer.
    expect(outcome).not.toHaveProperty("responseId");
    if (outcome.type !== "completed") return;
    const back = modelOf([finish("stop")]);
    await ask(aiSdkModel(back), { messages: [messageFromReply("1.1", "thread/1.1", outcome.reply)] });
    const sent = JSON.stringify(back.doStreamCalls[0]?.prompt);
    expect(sent).toContain('"hits":1');
    expect(sent).not.toContain("source-url");
  });

  test("that stalls for five minutes is given up, where nobody says another time", async () => {
    const open = (): ReturnType<typeof modelOf> => modelOf(text("a"), { open: true });
    const { outcome, clock, told } = perform(aiSdkModel(open()));
    await told(1);
    clock.advance(300_000);
    expect(await outcome).toMatchObject({ failure: { kind: "timeout" }, partial: {} });
    const endless = perform(aiSdkModel(open(), { idleTimeoutMs: null }));
    await endless.told(1);
    expect(endless.clock.waiting()).toBe(0);
    endless.control.abort();
    await endless.outcome;
  });

  test("ends with the reason, though the stream goes on", async () => {
    const { outcome } = await ask(aiSdkModel(modelOf([...text("Hi"), finish("length")], { open: true })));
    expect(outcome).toMatchObject({ type: "completed", reply: { content: "Hi" }, finishReason: "length" });
  });
});

describe("a request", () => {
  const sentFor = async (...given: Parameters<typeof ask> extends [unknown, ...infer Rest] ? Rest : never) => {
    const model = modelOf([finish("stop")]);
    const handler = aiSdkModel(model, { providerOptions: { p: { a: 1, b: 1 } }, headers: { "x-team": "blue" } });
    const { outcome } = await ask(handler, ...given);
    return { sent: model.doStreamCalls[0], outcome };
  };

  test("has the parameters by the names of the SDK or of chat completions, and the options of providers", async () => {
    const { sent } = await sentFor({
      model: {
        max_tokens: 9,
        topP: 0.5,
        stop: "END",
        seed: 1,
        temperature: 0,
        stream: false,
        providerOptions: { p: { b: 2 } },
      },
    });
    expect(sent).toMatchObject({ maxOutputTokens: 9, topP: 0.5, stopSequences: ["END"], seed: 1, temperature: 0 });
    expect(sent?.providerOptions).toEqual({ p: { a: 1, b: 2 } });
    expect(sent?.headers).toMatchObject({ "x-team": "blue" });
  });

  test("of a parameter that the SDK does not know, or of another model, is refused in words", async () => {
    const failures = await Promise.all(
      [{ logit_bias: {} }, { model: "model-2" }, { toolChoice: "some" }, { max_tokens: 0.5 }].map(
        async (model) => (await sentFor({ model })).outcome,
      ),
    );
    expect(failures).toMatchObject(
      [
        'no parameter "logit_bias"',
        '"model-2", and aiSdkModel was given "model-1"',
        "toolChoice is",
        "maxOutputTokens",
      ].map((message) => ({
        type: "failed",
        failure: { kind: "bad_request", message: expect.stringContaining(message) },
      })),
    );
    expect((await sentFor({ model: { model: "model-1" } })).outcome.type).toBe("completed");
  });

  test("offers exactly the tools of the call, and a summary none", async () => {
    const { sent } = await sentFor({ model: { tool_choice: "required" } }, [weather]);
    expect(sent?.tools).toMatchObject([{ type: "function", name: "weather", inputSchema: weather.parameters }]);
    expect(sent?.toolChoice).toEqual({ type: "required" });
    const summary = await sentFor({ purpose: "summary", model: { tool_choice: "required" } }, [weather]);
    expect(summary.sent?.tools).toBeUndefined();
    expect(summary.sent?.toolChoice).not.toEqual({ type: "required" });
  });

  test("shows images, files, and arguments that are no object as an empty one", async () => {
    const png = "data:image/png;base64,iVBORw0KGgo=";
    const pdf = { filename: "a.pdf", file_data: "data:application/pdf;base64,AQ==" };
    const content = [
      { type: "image", url: png },
      { type: "opaque", value: { type: "file", file: pdf } },
    ] as const;
    const reply = messageFromReply("1.1", "t/1.1", { toolCalls: [{ id: "a", name: "weather", arguments: "{oops" }] });
    const result: Message = {
      ...messageFromDraft("1.2", { role: "user", content: "" }),
      role: "tool",
      parts: [
        {
          type: "toolResult",
          callId: "t/1.1/0",
          providerCallId: "a",
          name: "weather",
          outcome: "failed",
          content: [{ type: "text", text: "no JSON" }],
        },
      ],
    };
    const { sent } = await sentFor({
      messages: [messageFromDraft("1.0", { role: "user", content }), reply, result],
    });
    expect(sent?.prompt).toMatchObject([
      { role: "user", content: [{ mediaType: "image/png" }, { mediaType: "application/pdf", filename: "a.pdf" }] },
      { role: "assistant", content: [{ type: "tool-call", input: {} }] },
      { role: "tool", content: [{ output: { type: "error-text", value: "no JSON" } }] },
    ]);
  });

  const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] } as const;
  test("asks for an output natively, by a tool, or in words", async () => {
    const output = { name: "title", schema };
    const native = (await sentFor({ output: { ...output, mode: "native" } })).sent;
    expect(native?.responseFormat).toEqual({
      type: "json",
      name: "title",
      schema: { ...schema, additionalProperties: false },
    });
    const byTool = (await sentFor({ output: { ...output, mode: "tool" } })).sent;
    expect(byTool).toMatchObject({ tools: [{ name: "title" }], toolChoice: { type: "tool", toolName: "title" } });
    const beside = (await sentFor({ output: { ...output, mode: "tool" } }, [weather])).sent;
    expect(beside).toMatchObject({ tools: [{ name: "weather" }, { name: "title" }], toolChoice: { type: "required" } });
    const prompted = (await sentFor({ output: { ...output, mode: "prompted" } })).sent;
    expect(prompted?.prompt[0]).toMatchObject({ role: "system", content: expect.stringContaining("JSON Schema") });
    expect(prompted?.responseFormat).toBeUndefined();
  });
});

test("an invalid model or option is refused with a remedy", () => {
  // Only a program without types can pass these.
  const given = (model: unknown, options?: unknown) => () =>
    Reflect.apply(aiSdkModel, undefined, options === undefined ? [model] : [model, options]);
  expect(given("openai/gpt-5")).toThrow(/give gateway\("openai\/gpt-5"\) of "ai"/);
  expect(given({})).toThrow(/needs a language model of the AI SDK/);
  expect(given(modelOf([]), { provideroptions: {} })).toThrow(/provideroptions/);
  expect(given(modelOf([]), { dialect: "klingon" })).toThrow(/dialect of aiSdkModel must be .*got "klingon"/);
  expect(given(gateway("openai/gpt-5"))).not.toThrow();
});
