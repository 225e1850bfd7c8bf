import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createHost, declarationsOf, tool } from "@colloquy/host";
import { conversationMachine } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AiSdkLanguageModel, aiSdkModel, type AiSdkModelOptions } from "../../../src/llm/ai-sdk/index.ts";
import { ask } from "./mock.ts";
import { memoryStore, randomIds, systemClock } from "../../../src/index.ts";

/** Makes a fetch that answers each request with the next stream of events, and records the bodies. */
const canned = (...answers: readonly (readonly { readonly type: string }[])[]) => {
  const bodies: unknown[] = [];
  const fetch = (_url: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    const events = answers[bodies.length] ?? [];
    bodies.push(JSON.parse(String(init?.body)));
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  };
  return { bodies, fetch };
};

/** Asks once, with a weather tool. */
const asked = async (model: AiSdkLanguageModel, options?: AiSdkModelOptions) => {
  const weather = tool({
    name: "weather",
    description: "The weather",
    input: z.object({ city: z.string() }),
    run: () => "sun",
  });
  const host = createHost({
    machine: conversationMachine({ tools: declarationsOf([weather]) }),
    store: memoryStore({ clock: systemClock }),
    tools: [weather],
    clock: systemClock,
    ids: randomIds,
    llm: aiSdkModel(model, options),
    onObserverError: (error) => {
      throw error;
    },
  });
  const result = await host.ask("Weather in Oslo and Bergen?");
  await host.close();
  return result;
};

describe("of Anthropic", () => {
  const start = {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-x",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 10, cache_read_input_tokens: 3, output_tokens: 1 },
    },
  };
  const block = (index: number, begin: object, ...deltas: readonly object[]) => [
    { type: "content_block_start", index, content_block: begin },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  const end = (reason: string) => [
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 7 } },
    { type: "message_stop" },
  ];

  test("the provider's metadata is neither counted nor lost", async () => {
    const { fetch } = canned([
      start,
      ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Yes." }),
      ...end("end_turn"),
    ]);
    const { outcome } = await ask(aiSdkModel(createAnthropic({ apiKey: "key", fetch })("claude-sonnet-4-5")));
    expect(outcome).toMatchObject({ type: "completed", reply: { content: "Yes." } });
  });

  test("thinking goes back with its signature, byte for byte, and so does redacted thinking", async () => {
    const signature = "EqQBCgIYAhIM+/1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds==";
    const { bodies, fetch } = canned(
      [
        start,
        ...block(
          0,
          { type: "thinking", thinking: "", signature: "" },
          { type: "thinking_delta", thinking: "Let me " },
          { type: "thinking_delta", thinking: "look" },
          { type: "signature_delta", signature },
        ),
        ...block(1, { type: "redacted_thinking", data: "c2VjcmV0/+==" }),
        ...block(2, { type: "text", text: "" }, { type: "text_delta", text: "I look." }),
        ...block(
          3,
          { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
          { type: "input_json_delta", partial_json: '{"city":"Oslo"}' },
        ),
        ...end("tool_use"),
      ],
      [start, ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Sunny." }), ...end("end_turn")],
    );
    const model = createAnthropic({ apiKey: "key", fetch })("claude-sonnet-4-5");
    const result = await asked(model, {
      providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
    });
    expect(result.text).toBe("Sunny.");
    expect(result.usage).toMatchObject({
      inputTokens: { sum: 26 },
      outputTokens: { sum: 14 },
      cacheReadTokens: { sum: 6 },
    });
    expect(bodies[0]).toMatchObject({ thinking: { type: "enabled" }, tools: [{ name: "weather" }] });
    expect(bodies[1]).toMatchObject({
      messages: [
        { role: "user" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Let me look", signature },
            { type: "redacted_thinking", data: "c2VjcmV0/+==" },
            { type: "text", text: "I look." },
            { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Oslo" } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1" }] },
      ],
    });
  });
});

describe("of OpenAI", () => {
  const done = (output_index: number, item: object) => [
    { type: "response.output_item.added", output_index, item: { ...item, summary: [], content: [], arguments: "" } },
    { type: "response.output_item.done", output_index, item },
  ];
  const response = (id: string, ...items: readonly (readonly { readonly type: string }[])[]) => [
    { type: "response.created", response: { id, created_at: 1, model: "gpt-x" } },
    ...items.flat(),
    {
      type: "response.completed",
      response: { usage: { input_tokens: 5, output_tokens: 4, output_tokens_details: { reasoning_tokens: 3 } } },
    },
  ];
  const reasoning = (id: string) => ({ type: "reasoning", id, encrypted_content: `gAAAA${id}/+==`, summary: [] });
  const called = (id: string, city: string) => ({
    type: "function_call",
    id: `fc_${id}`,
    call_id: id,
    name: "weather",
    arguments: JSON.stringify({ city }),
    status: "completed",
  });

  test("reasoning goes back encrypted, each before the call that it led to", async () => {
    const said = [
      { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "msg_1" } },
      { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: "Sunny." },
      { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "msg_1" } },
    ];
    const { bodies, fetch } = canned(
      response(
        "r1",
        done(0, reasoning("rs_1")),
        done(1, called("a", "Oslo")),
        done(2, reasoning("rs_2")),
        done(3, called("b", "Bergen")),
      ),
      response("r2", said),
    );
    const model = createOpenAI({ apiKey: "key", fetch })("gpt-5");
    const result = await asked(model, {
      providerOptions: { openai: { store: false, include: ["reasoning.encrypted_content"] } },
    });
    expect(result.text).toBe("Sunny.");
    expect(result.usage).toMatchObject({ outputTokens: { sum: 8 }, reasoningTokens: { sum: 6 } });
    expect(bodies[1]).toMatchObject({
      input: [
        { role: "user" },
        { type: "reasoning", encrypted_content: "gAAAArs_1/+==" },
        { type: "function_call", call_id: "a" },
        { type: "reasoning", encrypted_content: "gAAAArs_2/+==" },
        { type: "function_call", call_id: "b" },
        { type: "function_call_output", call_id: "a" },
        { type: "function_call_output", call_id: "b" },
      ],
    });
  });
});
