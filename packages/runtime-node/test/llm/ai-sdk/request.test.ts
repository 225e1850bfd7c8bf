import { type CallLlm, type JsonObject, messageFromDraft, messageFromReply } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { describe, expect, test } from "vitest";
import { failureOfAiError } from "../../../src/llm/ai-sdk/answer.ts";
import { type AiRequest, aiRequest } from "../../../src/llm/ai-sdk/request.ts";
import { dialects } from "../../../src/llm/wire/dialects.ts";
import { callOf } from "../call.ts";

const wire = { dialect: dialects["lenient"] ?? expect.unreachable(), origin: "here m", format: "model" } as const;
const look = { name: "look" };
const find = { name: "find" };

const requestOf = (fields: Partial<CallLlm>, tools = [look], providerOptions?: JsonObject): AiRequest | string =>
  Either.toUnion(aiRequest(callOf(fields), tools, { modelId: "model-1", providerOptions, wire }));

const ofModel = (model: JsonObject): AiRequest | string => requestOf({ model });

describe("the parameters of a call", () => {
  test.each<readonly [JsonObject, JsonObject]>([
    [{ stream: false, stream_options: {}, temperature: null, model: "model-1" }, {}],
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }],
    [{ max_completion_tokens: 5 }, { maxOutputTokens: 5 }],
    [
      { maxOutputTokens: 5, seed: 1, reasoning: "low" },
      { maxOutputTokens: 5, seed: 1, reasoning: "low" },
    ],
    [
      { top_p: 1, top_k: 2 },
      { topP: 1, topK: 2 },
    ],
    [
      { presence_penalty: 1, frequency_penalty: 2 },
      { presencePenalty: 1, frequencyPenalty: 2 },
    ],
    [{ stop: "a" }, { stopSequences: ["a"] }],
    [{ stopSequences: ["a", "b"] }, { stopSequences: ["a", "b"] }],
  ])("%j are settings %j", (model, settings) => {
    expect(ofModel(model)).toMatchObject({ settings });
    expect(ofModel(model)).toHaveProperty("settings", settings);
  });

  test.each<readonly [JsonObject, string]>([
    [
      { model: "m" },
      'the call names the model "m", and aiSdkModel was given "model-1": leave model out of the parameters, or give that model',
    ],
    [{ toolChoice: "all" }, 'toolChoice is "all"; give "auto", "none", "required", or { type: "tool", toolName }'],
    [
      { tool_choice: { type: "tool", toolName: "" } },
      'tool_choice is {"type":"tool","toolName":""}; give "auto", "none", "required", or { type: "tool", toolName }',
    ],
    [
      { tool_choice: { type: "other", toolName: "look" } },
      'tool_choice is {"type":"other","toolName":"look"}; give "auto", "none", "required", or { type: "tool", toolName }',
    ],
    [
      { logprobs: true },
      'aiSdkModel knows no parameter "logprobs": it takes the settings of streamText (temperature, seed, reasoning, maxOutputTokens, topP, topK, presencePenalty, frequencyPenalty, stopSequences), toolChoice and providerOptions, where a provider takes what only it knows',
    ],
    [{ providerOptions: "x" }, expect.stringContaining('knows no parameter "providerOptions"')],
  ])("%j are refused", (model, reason) => {
    expect(ofModel(model)).toEqual(reason);
  });

  test.each<readonly [JsonObject[string], object]>([
    ["auto", { type: "auto" }],
    ["none", { type: "none" }],
    ["required", { type: "required" }],
    [
      { type: "tool", toolName: "look" },
      { type: "tool", toolName: "look" },
    ],
    [
      { type: "function", function: { name: "look" } },
      { type: "tool", toolName: "look" },
    ],
    [
      { type: "function", toolName: "look" },
      { type: "tool", toolName: "look" },
    ],
  ])("have the choice %j of a tool", (choice, toolChoice) => {
    for (const name of ["toolChoice", "tool_choice"])
      expect(ofModel({ [name]: choice })).toMatchObject({ wanted: { toolChoice } });
    expect(requestOf({ model: { toolChoice: choice ?? null } }, [])).toHaveProperty("wanted", {});
  });

  test("have options of providers, which override those of the handler one by one", () => {
    const given = { one: { a: 1, b: 2 }, two: { c: 3 }, three: 4 };
    const own = { one: { b: 5 }, two: 6, three: { d: 7 }, four: { e: 8 } };
    expect(requestOf({ model: { providerOptions: own } }, [], given)).toMatchObject({
      providerOptions: { one: { a: 1, b: 5 }, two: 6, three: { d: 7 }, four: { e: 8 } },
    });
    expect(requestOf({}, [], given)).toHaveProperty("providerOptions", given);
    expect(requestOf({}, [])).toHaveProperty("providerOptions", {});
  });
});

test("a wanted output is the only tool, one of several, or a format", () => {
  const schema = { type: "object", properties: { a: { type: "string" } } } as const;
  const wantedOf = (mode: "native" | "tool" | "prompted", tools = [look], model: JsonObject = {}): unknown => {
    const request = requestOf({ model, output: { name: "look", schema, mode } }, tools);
    return typeof request === "string" ? request : request.wanted;
  };
  expect(wantedOf("tool")).toEqual({ toolChoice: { type: "tool", toolName: "look" } });
  expect(wantedOf("tool", [look, find])).toEqual({ toolChoice: { type: "required" } });
  expect(wantedOf("tool", [look], { toolChoice: "auto" })).toEqual({ toolChoice: { type: "auto" } });
  expect(wantedOf("prompted")).toEqual({});
  expect(wantedOf("native")).toMatchObject({
    responseFormat: { type: "json", name: "look", schema: { type: "object" } },
  });
});

test("an item of the Responses API goes back with the first message that has it", () => {
  const said = (id: string, itemIds: readonly string[]) =>
    messageFromReply(id, id, {
      content: [
        ...itemIds.map((itemId) => ({
          type: "reasoning" as const,
          text: `of ${itemId}`,
          provider: { ai: { openai: { itemId, more: 1 } } },
        })),
        { type: "text", text: "So." },
      ],
    });
  const question = messageFromDraft("1", { role: "user", content: "?" });
  const request = requestOf({ messages: [question, said("1.1", ["a", "a"]), said("1.2", ["a", "b"])] });
  const all = typeof request === "string" ? [] : request.messages;
  const items = all.flatMap(({ content }) =>
    Array.isArray(content) ? content.map((part: JsonObject) => [part["text"], part["providerOptions"]]) : [],
  );
  const whole = (itemId: string): object => ({ openai: { itemId, more: 1 } });
  expect(items.filter(([words]) => typeof words === "string" && words.startsWith("of"))).toMatchObject([
    ["of a", whole("a")],
    ["of a", whole("a")],
    ["of a", { openai: { more: 1 } }],
    ["of b", whole("b")],
  ]);
  expect(JSON.stringify(items).split("itemId")).toHaveLength(4);
});

test.each([undefined, {}])(
  "a request has the reasoning of an imported reply with the provider fields %j",
  (provider) => {
    const thought = { type: "reasoning", text: "Hm.", ...(provider && { provider }) } as const;
    const reply = messageFromReply("1.1", "1.1", { content: [thought, { type: "text", text: "So." }] });
    expect(requestOf({ messages: [messageFromDraft("1", { role: "user", content: "?" }), reply] })).toMatchObject({
      messages: [{ role: "user" }, { content: [{ type: "reasoning", text: "Hm." }, { text: "So." }] }],
    });
  },
);

test.each([
  ["AI_LoadAPIKeyError", "auth", false],
  ["AI_LoadSettingError", "auth", false],
  ["AI_NoSuchModelError", "bad_request", false],
  ["AI_NoSuchProviderError", "bad_request", false],
  ["AI_UnsupportedFunctionalityError", "bad_request", false],
  ["AI_InvalidPromptError", "bad_request", false],
  ["AI_InvalidArgumentError", "bad_request", false],
  ["AI_MessageConversionError", "bad_request", false],
  ["AI_DownloadError", "bad_request", false],
  ["AI_EmptyResponseBodyError", "truncated", true],
  ["AI_NoOutputGeneratedError", "truncated", true],
  ["AI_JSONParseError", "truncated", true],
  ["AI_InvalidResponseDataError", "unknown", true],
  ["AI_TypeValidationError", "unknown", true],
  ["AI_OtherError", "unknown", false],
])("an error %s of the AI SDK is %s, to be tried again: %s", (name, kind, retryable) => {
  const error = Object.assign(new Error("no"), { name });
  expect(failureOfAiError(error, { now: 0 })).toMatchObject({ kind, retryable, message: "no" });
});

test.each<readonly [object, object]>([
  [
    { statusCode: 300, responseHeaders: { LOCATION: "http://b/c" } },
    { status: 300, retryable: false },
  ],
  [
    { statusCode: 500, data: { error: { message: "of the data" } } },
    { status: 500, message: "of the data" },
  ],
  [
    { statusCode: 500, data: null },
    { status: 500, message: "thrown" },
  ],
  [
    { statusCode: 200, responseBody: "" },
    { kind: "unknown", message: "thrown" },
  ],
  [
    { statusCode: 200, responseBody: "{" },
    { kind: "truncated", message: "the server's answer breaks off: {" },
  ],
  [{ statusCode: 299, responseBody: "words" }, { message: "the server's answer holds no reply: words" }],
  [{ data: { type: "overloaded_error", message: "busy" } }, { kind: "overloaded", message: "busy" }],
  [{ isRetryable: true }, { kind: "network", retryable: true, message: "thrown" }],
  [{ isRetryable: false }, { kind: "unknown", retryable: false, message: "thrown" }],
  [
    { isRetryable: true, cause: new TypeError("fetch failed") },
    { kind: "network", message: "the connection failed: fetch failed" },
  ],
])("an error of a provider with %j is told as %j", (fields, expected) => {
  expect(failureOfAiError(Object.assign(new Error("thrown"), fields), { now: 0 })).toMatchObject(expected);
});
