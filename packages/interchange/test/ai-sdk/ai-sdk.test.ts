import { convertToModelMessages, generateText } from "ai";
import type { ModelMessage, UIMessage } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, test } from "vitest";
import { fromModelMessages, toModelMessages } from "../../src/ai-sdk/model-messages.ts";
import { fromUiMessages, toUiMessages } from "../../src/ai-sdk/ui-messages.ts";
import { type Message, messagesFromSeed, type SeedDraft } from "@colloquy/machine";
import { right, threadOf } from "../laws.ts";

// Our types are wider than the SDK's; these tests check that the values fit.
const asModel = (value: unknown): ModelMessage[] => value as ModelMessage[];
const asUi = (value: unknown): UIMessage[] => value as UIMessage[];

const seeded = (drafts: readonly SeedDraft[]): readonly Message[] => {
  const made = messagesFromSeed(1, drafts);
  if ("left" in made) throw new Error(made.left);
  return made.right;
};

/** Returns the prompt that a model gets if the SDK is given these messages. */
const sentBySdk = async (messages: ModelMessage[]) => {
  const model = new MockLanguageModelV4({
    doGenerate: {
      content: [{ type: "text", text: "ok" }],
      finishReason: { unified: "stop", raw: "stop" },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    },
  });
  await generateText({ model, messages, allowSystemInMessages: true, maxRetries: 0 });
  return model.doGenerateCalls[0]?.prompt ?? [];
};

const talk = seeded([
  { role: "system", content: "Be brief." },
  {
    role: "user",
    name: "ada",
    content: [
      { type: "text", text: "Look." },
      { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" },
      {
        type: "opaque",
        value: { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,AA==" } },
      },
      { type: "data", field: "city", value: "Oslo" },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", provider: { ai: { anthropic: { signature: "s" } } } },
      { type: "text", text: "One moment." },
    ],
    toolCalls: [
      { id: "call_1", name: "weather", arguments: '{"city":"Oslo"}' },
      { id: "call_2", name: "weather", arguments: '{ "city": "Bergen" }' },
    ],
  },
  { role: "tool", toolCallId: "call_1", content: "rain" },
  {
    role: "tool",
    toolCallId: "call_2",
    content: [{ type: "text", text: '{"sky":"clear"}', provider: { output: "json" } }],
  },
  { role: "assistant", content: "Rain in Oslo." },
  { role: "user", content: "Thanks." },
]);

describe("what a model is sent", () => {
  test("is the conversation, as model messages", async () => {
    const { value, losses } = toModelMessages(talk);
    expect(losses).toEqual([]);
    expect(await sentBySdk(asModel(value))).toMatchObject(expectedPrompt);
  });

  test("is the same when both go through a thread", async () => {
    const first = await sentBySdk(asModel(toModelMessages(talk).value));
    const through = threadOf(right(fromUiMessages(toUiMessages(talk).value)));
    expect(await sentBySdk(asModel(toModelMessages(through).value))).toEqual(first);
    const back = threadOf(right(fromModelMessages(toModelMessages(through).value)));
    expect(await sentBySdk(asModel(toModelMessages(back).value))).toEqual(first);
  });
});

describe("stored UI messages", () => {
  test("are sent to a model after going through a thread as the SDK would have sent them", async () => {
    const stored = [
      { id: "s1", role: "system", parts: [{ type: "text", text: "Be brief." }] },
      {
        id: "u1",
        role: "user",
        parts: [
          { type: "text", text: "Look." },
          { type: "file", mediaType: "image/png", url: "data:image/png;base64,AQI=" },
          { type: "file", mediaType: "text/plain", filename: "a.txt", url: "data:text/plain;base64,AQ==" },
          { type: "data-place", data: { city: "Oslo" } },
        ],
      },
      {
        id: "m1",
        role: "assistant",
        parts: [
          { type: "step-start" },
          { type: "reasoning", text: "hm", providerMetadata: { anthropic: { signature: "s" } } },
          { type: "text", text: "One moment.", state: "done" },
          toolPart("a", { state: "output-available", output: "rain" }),
          toolPart("b", { state: "output-available", output: { sky: ["grey"] } }),
          toolPart("c", { state: "output-error", errorText: "no such city" }),
          { ...toolPart("d", { state: "output-available", output: "ok" }), type: "dynamic-tool", toolName: "any" },
          { type: "step-start" },
          { type: "source-url", sourceId: "1", url: "https://example.org" },
          toolPart("ws", { state: "output-available", output: { found: 1 }, providerExecuted: true }),
          { type: "text", text: "Rain." },
        ],
      },
      { id: "u2", role: "user", parts: [{ type: "text", text: "Thanks." }] },
    ];
    const bySdk = await sentBySdk(await convertToModelMessages(asUi(stored)));
    const { value, losses } = toUiMessages(threadOf(right(fromUiMessages(stored))));
    expect(losses).toEqual([]);
    expect(await sentBySdk(await convertToModelMessages(asUi(value)))).toEqual(bySdk);
  });

  const toolPart = (toolCallId: string, fields: object) => ({
    type: "tool-forecast",
    toolCallId,
    input: { city: "Oslo" },
    callProviderMetadata: { google: { thoughtSignature: toolCallId } },
    ...fields,
  });
});

const expectedPrompt = [
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: "Look." },
      { type: "file", mediaType: "image/png" },
      { type: "file", mediaType: "application/pdf", filename: "a.pdf" },
      { type: "text", text: 'city: "Oslo"' },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "s" } } },
      { type: "text", text: "One moment." },
      { type: "tool-call", toolCallId: "call_1", toolName: "weather", input: { city: "Oslo" } },
      { type: "tool-call", toolCallId: "call_2", toolName: "weather", input: { city: "Bergen" } },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", toolCallId: "call_1", output: { type: "text", value: "rain" } },
      { type: "tool-result", toolCallId: "call_2", output: { type: "json", value: { sky: "clear" } } },
    ],
  },
  { role: "assistant", content: [{ type: "text", text: "Rain in Oslo." }] },
  { role: "user", content: [{ type: "text", text: "Thanks." }] },
];
