import { convertGenAISpanAttributesToOpenInferenceSpanAttributes as openInference } from "@arizeai/openinference-genai";
import { test } from "@fast-check/vitest";
import { createHost, declarationsOf, memoryStore, tool } from "@colloquy/host";
import { conversationMachine, type Entry, type MessageDraft, start, transition } from "@colloquy/machine";
import { decodeJournal } from "@colloquy/machine/journal";
import { runningClock, sequentialIds } from "@colloquy/runtime-test";
import { fails, reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { describe, expect } from "vitest";
import { otlpRequest } from "@colloquy/host/telemetry/otlp";
import { isA, rightOf, spansIn } from "./kit.ts";

/** Returns the journal of a conversation in which every text has its own words. */
const journalOfCanaries = async (): Promise<readonly Entry[]> => {
  const clock = runningClock();
  const store = memoryStore({ clock });
  const lookUp = tool({
    name: "look_up",
    description: "canary-description",
    input: { jsonSchema: { type: "object" } },
    run: () => "said-by-tool",
  });
  const fail = tool({
    name: "fail",
    description: "",
    input: { jsonSchema: { type: "object" } },
    run: () => Promise.reject(new Error("said-by-error")),
  });
  const host = createHost({
    machine: conversationMachine({
      tools: declarationsOf([lookUp, fail]),
      model: {
        model: "openai/gpt-4o",
        temperature: 0.5,
        top_p: 1,
        stop: "canary-end",
        api_key: "canary-key",
        headers: { authorization: "canary-header" },
        user: "canary-user",
      },
    }),
    llm: scriptedModel([
      fails(
        { kind: "rate_limit", message: "canary-failure", retryable: true, retryAfterMs: 1 },
        { partial: "said-by-half" },
      ),
      toolCalls([
        { name: "look_up", arguments: { q: "said-by-call" } },
        { name: "fail", arguments: {} },
      ]),
      reply("said-by-model", {
        usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2, provider: { note: "canary-report" } },
      }),
      fails({ kind: "auth", message: "canary-auth", retryable: false }, { partial: "said-by-other-half" }),
    ]),
    tools: [lookUp, fail],
    thread: { system: "said-by-system", metadata: { note: "canary-metadata" } },
    store,
    clock,
    ids: sequentialIds(),
  });
  await host.ask("said-by-user", { threadId: "t", metadata: { note: "canary-ask" } });
  await expect(host.ask("said-by-user-again", { threadId: "t" })).rejects.toThrow("canary-auth");
  await host.close();
  return rightOf(decodeJournal(await store.read("t")));
};

describe("what was said", () => {
  test("is in no span unless that was asked for", async () => {
    const spans = spansIn(await journalOfCanaries(), { open: true });
    const bodies = (["json", "protobuf"] as const).map((format) => Buffer.from(otlpRequest(spans, { format })));
    for (const body of bodies) {
      expect(body.toString("latin1")).toContain("canary-end");
      expect(body.toString("latin1")).not.toMatch(/said-by|canary-(?!end)/);
    }
  });

  test("is in spans where it was, and nothing that is secret", async () => {
    const text = JSON.stringify(spansIn(await journalOfCanaries(), { content: true, open: true }));
    expect(text).not.toMatch(/canary-(?!end)/);
    const said = ["user", "system", "call", "tool", "model", "user-again", "other-half"];
    for (const who of said) expect(text).toContain(`said-by-${who}`);
  });

  test("and all else is read by OpenInference", async () => {
    const spans = spansIn(await journalOfCanaries(), { content: true, agent: "librarian" });
    const read = spans.map(({ attributes }) =>
      openInference({
        ...attributes,
        "gen_ai.response.finish_reasons": [
          ...((attributes["gen_ai.response.finish_reasons"] as readonly string[] | undefined) ?? []),
        ],
      }),
    );
    expect(read.map((attributes) => attributes?.["openinference.span.kind"])).toEqual([
      "AGENT",
      "LLM",
      "TOOL",
      "TOOL",
      "LLM",
      "AGENT",
      "LLM",
    ]);
    const agent = read[spans.findIndex(isA("invoke_agent"))];
    expect(agent).toMatchObject({ "agent.name": "librarian", "llm.token_count.prompt": 7 });
    expect(read[4]).toMatchInlineSnapshot(`
      {
        "input.mime_type": "application/json",
        "input.value": "[{"role":"system","parts":[{"type":"text","content":"said-by-system"}]},{"role":"user","parts":[{"type":"text","content":"said-by-user"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"1.1.0","name":"look_up","arguments":{"q":"said-by-call"}},{"type":"tool_call","id":"1.1.1","name":"fail","arguments":{}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"1.1.0","response":"said-by-tool"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"1.1.1","response":"said-by-error"}]}]",
        "llm.finish_reason": "stop",
        "llm.input_messages.0.message.contents.0.message_content.text": "said-by-system",
        "llm.input_messages.0.message.contents.0.message_content.type": "text",
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.1.message.contents.0.message_content.text": "said-by-user",
        "llm.input_messages.1.message.contents.0.message_content.type": "text",
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.2.message.role": "assistant",
        "llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments": "{"q":"said-by-call"}",
        "llm.input_messages.2.message.tool_calls.0.tool_call.function.name": "look_up",
        "llm.input_messages.2.message.tool_calls.0.tool_call.id": "1.1.0",
        "llm.input_messages.2.message.tool_calls.1.tool_call.function.arguments": "{}",
        "llm.input_messages.2.message.tool_calls.1.tool_call.function.name": "fail",
        "llm.input_messages.2.message.tool_calls.1.tool_call.id": "1.1.1",
        "llm.input_messages.3.message.content": "said-by-tool",
        "llm.input_messages.3.message.role": "tool",
        "llm.input_messages.3.message.tool_call_id": "1.1.0",
        "llm.input_messages.4.message.content": "said-by-error",
        "llm.input_messages.4.message.role": "tool",
        "llm.input_messages.4.message.tool_call_id": "1.1.1",
        "llm.invocation_parameters": "{"model":"openai/gpt-4o","temperature":0.5,"top_p":1,"stop_sequences":["canary-end"]}",
        "llm.model_name": "openai/gpt-4o",
        "llm.output_messages.0.message.contents.0.message_content.text": "said-by-model",
        "llm.output_messages.0.message.contents.0.message_content.type": "text",
        "llm.output_messages.0.message.role": "assistant",
        "llm.provider": "openai",
        "llm.system": "openai",
        "llm.token_count.completion": 3,
        "llm.token_count.prompt": 7,
        "llm.token_count.prompt_details.cache_read": 2,
        "llm.token_count.total": 10,
        "openinference.span.kind": "LLM",
        "output.mime_type": "application/json",
        "output.value": "[{"role":"assistant","parts":[{"type":"text","content":"said-by-model"}]}]",
      }
    `);
    expect(read[2]).toMatchInlineSnapshot(`
      {
        "input.mime_type": "application/json",
        "input.value": "{"q":"said-by-call"}",
        "llm.finish_reason": "stop",
        "openinference.span.kind": "TOOL",
        "output.mime_type": "text/plain",
        "output.value": "said-by-tool",
        "tool.name": "look_up",
        "tool.parameters": "{"q":"said-by-call"}",
        "tool_call.id": "1.1.0",
      }
    `);
  });

  test("is written as the conventions have it, part by part, without what only a provider reads", () => {
    const machine = conversationMachine();
    const begun = start(machine, { threadId: "t", at: 0, system: { role: "developer", content: "Be brief." } });
    const input: readonly MessageDraft[] = [
      {
        role: "user",
        name: "ada",
        provider: { note: "canary" },
        content: [
          { type: "text", text: "Look.", provider: { note: "canary" } },
          { type: "image", url: "https://example.org/cat.png" },
          { type: "image", url: "data:image/png;base64,iVBORw0=" },
          { type: "data", field: "mood", value: { calm: true } },
          { type: "opaque", value: { type: "audio", token: "canary" } },
        ],
      },
    ];
    const asked = transition(machine, begun.state, { type: "ask.received", at: 1, askId: "a", input });
    if (!asked.handled) throw new Error(asked.refusal.reason);
    const chat = spansIn([begun.entry, asked.entry], { content: true, open: true }).find(isA("chat"));
    expect(JSON.parse(String(chat?.attributes["gen_ai.input.messages"]))).toEqual([
      { role: "system", parts: [{ type: "text", content: "Be brief." }] },
      {
        role: "user",
        name: "ada",
        parts: [
          { type: "text", content: "Look." },
          { type: "uri", modality: "image", uri: "https://example.org/cat.png" },
          { type: "blob", modality: "image", mime_type: "image/png", content: "iVBORw0=" },
          { type: "data", name: "mood", content: { calm: true } },
          { type: "audio" },
        ],
      },
    ]);
  });
});
