import { readFileSync } from "node:fs";
import type { LlmDelta } from "@colloquy/host";
import {
  type CallLlm,
  type JsonObject,
  messageFromDraft,
  messageFromReply,
  messageFromResult,
  type ReplyDraft,
  toolCallsOf,
} from "@colloquy/machine";
import { describe, expect, test, vi } from "vitest";
import { isObject, listOf } from "../../../src/llm/json/loose-json.ts";
import { openaiChat, openaiResponses } from "../../../src/llm/openai.ts";
import { type Dialect, dialectFor, dialects } from "../../../src/llm/wire/dialects.ts";
import { originOf } from "../../../src/llm/wire/handler-on-wire.ts";
import { completedSchema } from "../../../src/llm/wire/schemas.ts";
import { ToolsOnWire } from "../../../src/llm/wire/tools.ts";
import { callOf, perform } from "../call.ts";
import { strictRefusal } from "@colloquy/runtime-test/server";
import { answeringJson, begin, chatServer, chunkOf } from "../server.ts";

describe("the dialect of a server", () => {
  test.each([
    ["https://api.openai.com/v1", "gpt-5", "openai-chat"],
    ["https://eu.services.ai.azure.com/openai/v1", "DeepSeek-V3", "openai-chat"],
    ["https://api.anthropic.com/v1", "claude-sonnet-4-5", "anthropic"],
    ["https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro", "gemini"],
    ["https://api.mistral.ai/v1", "magistral-small", "mistral"],
    ["https://api.deepseek.com", "deepseek-reasoner", "deepseek"],
    ["https://api.groq.com/openai/v1", "moonshotai/kimi-k2", "groq"],
    ["http://localhost:11434/v1", "qwen3", "ollama"],
    ["https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-flash", "gemini-2"],
    ["https://openrouter.ai/api/v1", "x-ai/grok-4", "openrouter"],
    ["https://openrouter.ai/api/v1", "qwen/qwen3.6-27b", "openrouter-vllm"],
    ["https://openrouter.ai/api/v1", "anthropic/claude-haiku-4.5", "openrouter-anthropic"],
    ["https://openrouter.ai/api/v1", "google/gemini-2.5-pro", "openrouter-gemini-2"],
    ["https://ai-gateway.vercel.sh/v1", "mistral/devstral-small", "openrouter-mistral"],
    ["http://localhost:8000/v1", "deepseek-ai/DeepSeek-OCR", "vllm"],
    ["http://localhost:4000", "bedrock/anthropic.claude-sonnet-4", "anthropic"],
    ["http://localhost:8000/v1", "mistralai/Mistral-Small-3.2", "mistral"],
    ["http://localhost:8000/v1", "moonshotai/Kimi-K2", "kimi"],
    ["https://api.kimi.com/coding/v1", "k3", "kimi"],
    ["https://openrouter.ai/api/v1", "moonshotai/kimi-k2.6", "openrouter-kimi"],
    ["http://localhost:1234/v1", "openai/gpt-oss-20b", "common"],
    ["http://localhost:8000/v1", "google/gemma-3-27b-it", "alternating"],
    ["https://api.perplexity.ai", "sonar-pro", "alternating"],
    ["https://openrouter.ai/api/v1", "google/gemma-3-27b-it", "openrouter-alternating"],
    ["http://localhost:8080/v1", "m", "common"],
  ])("at %s, of the model %s, is %s", (baseURL, model, name) => {
    expect(dialectFor(baseURL, model).name).toBe(name);
  });

  test("is that of the API for responses and texts, and takes all of its own through the AI SDK", () => {
    expect(dialectFor("https://api.openai.com/v1", "gpt-5", "responses").name).toBe("openai-responses");
    expect(dialectFor("http://localhost:8080/v1", "m", "text").name).toBe("text");
    const mistral = dialectFor("mistral.chat", "mistral-large-latest", "ai-sdk");
    expect(mistral).toMatchObject({ callIds: dialects["mistral"]?.callIds, fields: "all" });
  });

  test("is a plain frozen value, and stands in the page of models", () => {
    const page = readFileSync(new URL("../../../../../docs/models.md", import.meta.url), "utf8");
    for (const dialect of Object.values(dialects)) {
      expect(JSON.parse(JSON.stringify(dialect))).toEqual(dialect);
      expect(Object.isFrozen(dialect)).toBe(true);
      expect(page).toContain(`\`${dialect.name}\``);
    }
  });

  test("can be named, or given as a value, and a wrong one is refused with the names that there are", () => {
    const make = (dialect: unknown) => () =>
      openaiChat({ apiKey: "k", baseURL: "http://127.0.0.1:9", dialect: dialect as string });
    expect(make("mistral")).not.toThrow();
    expect(make({ ...dialects["common"], name: "ours", texts: "listed" })).not.toThrow();
    expect(make("mistrall")).toThrow(
      /^dialect of openaiChat must be "common" or "openai-chat" or .* \(got "mistrall"\)$/,
    );
    expect(make({ name: "ours" })).not.toThrow();
    expect(make({ ...dialects["common"], more: 1 })).toThrow(
      /^dialect of openaiChat has no option "more"; there are name/,
    );
    expect(make({ ...dialects["common"], callIds: "(" })).toThrow(
      /: callIds must be the source of a regular expression \(got "\("\)/,
    );
    expect(() => openaiResponses({ apiKey: "k", dialect: "x" })).toThrow(/^dialect of openaiResponses must be/);
  });
});

test.each([
  ["https://api.openai.com/v1", "gpt-5-mini", "api.openai.com gpt"],
  ["http://127.0.0.1:8080/v1", "meta-llama/Llama-4", "127.0.0.1:8080 llama"],
  ["http://127.0.0.1:8080/v1", "", "127.0.0.1:8080 "],
])("an origin is the host and the family of the model: %s %s", (baseURL, model, origin) => {
  expect(originOf(baseURL, model)).toBe(origin);
});

describe("a schema on the wire", () => {
  const text = { type: "string" };
  test.each<readonly [string, JsonObject, JsonObject]>([
    ["that is whole stays", { type: "object", properties: { a: text } }, { type: "object", properties: { a: text } }],
    ["without properties has none", { type: "object" }, { type: "object", properties: {} }],
    ["that says nothing is an object", {}, { type: "object", properties: {} }],
    [
      "of a union has the properties of all, and requires what all require",
      {
        anyOf: [
          { type: "object", properties: { kind: { const: "a" }, a: text }, required: ["kind", "a"] },
          { type: "object", properties: { kind: { const: "b" } }, required: ["kind"] },
        ],
      },
      {
        type: "object",
        properties: { kind: { anyOf: [{ const: "a" }, { const: "b" }] }, a: text },
        required: ["kind"],
      },
    ],
    [
      "of a reference has what it refers to",
      { $ref: "#/$defs/tree", $defs: { tree: { type: "object", properties: { next: { $ref: "#/$defs/tree" } } } } },
      {
        type: "object",
        properties: { next: { $ref: "#/$defs/tree" } },
        $defs: { tree: { type: "object", properties: { next: { $ref: "#/$defs/tree" } } } },
      },
    ],
    [
      "has each name that is required as a property",
      { type: "object", required: ["a"], properties: { b: { type: "object", required: ["c"] } } },
      {
        type: "object",
        required: ["a"],
        properties: { b: { type: "object", required: ["c"], properties: { c: {} } }, a: {} },
      },
    ],
    [
      "has items in each list",
      { type: "object", properties: { all: { type: "array" }, items: { type: "array", items: { type: "array" } } } },
      {
        type: "object",
        properties: {
          all: { type: "array", items: {} },
          items: { type: "array", items: { type: "array", items: {} } },
        },
      },
    ],
    [
      "has a list of what any place allows for each tuple",
      {
        type: "object",
        properties: {
          new: { type: "array", prefixItems: [text, { type: "array" }], items: false },
          old: { type: "array", items: [text, text], additionalItems: { type: "number" }, maxItems: 3 },
          same: { type: "array", items: [text, text] },
        },
      },
      {
        type: "object",
        properties: {
          new: { type: "array", items: { anyOf: [text, { type: "array", items: {} }] } },
          old: { type: "array", maxItems: 3, items: { anyOf: [text, { type: "number" }] } },
          same: { type: "array", items: text },
        },
      },
    ],
    [
      "has an object for true, and leaves out what nothing matches",
      {
        type: "object",
        properties: {
          any: true,
          none: false,
          never: { not: {} },
          all: { type: "array", items: true },
          empty: { type: "array", items: false },
          either: { anyOf: [text, false] },
        },
        additionalProperties: false,
      },
      {
        type: "object",
        properties: {
          any: {},
          all: { type: "array", items: {} },
          empty: { type: "array", items: {}, maxItems: 0 },
          either: { anyOf: [text] },
        },
        additionalProperties: false,
      },
    ],
  ])("%s", (_, schema, expected) => {
    expect(completedSchema(schema)).toEqual(expected);
    expect(completedSchema(expected)).toEqual(expected);
  });
});

test("a reference with escapes is followed in a page, which has no Buffer", () => {
  vi.stubGlobal("Buffer", undefined);
  const schema = { $ref: "#/$defs/gr%C3%B6%C3%9Fe%20x", $defs: { "größe x": { properties: { a: {} } } } };
  const { properties } = completedSchema(schema);
  vi.unstubAllGlobals();
  expect(properties).toEqual({ a: {} });
});

describe("a schema of a property", () => {
  const inside = (each: JsonObject, form: Dialect["schemas"]) =>
    (completedSchema({ type: "object", properties: { a: each } }, form)["properties"] as JsonObject)["a"];
  const simple = ["string", "number", "boolean", "object"].map((type) => ({ type }));
  const any = [...simple, { type: "array", items: { anyOf: simple } }, { type: "null" }];

  test.each<readonly [JsonObject, JsonObject]>([
    [{ type: "string" }, { type: "string" }],
    [{ type: ["string"] }, { type: "string" }],
    [
      { type: ["string", "null"], description: "a", minLength: 2, enum: ["ab", null] },
      {
        description: "a",
        anyOf: [
          { type: "string", minLength: 2, enum: ["ab"] },
          { type: "null", enum: [null] },
        ],
      },
    ],
    [
      { type: ["array", "integer"], items: { type: ["object", "null"], properties: {} }, minimum: 1 },
      {
        anyOf: [
          { type: "array", items: { anyOf: [{ type: "object", properties: {} }, { type: "null" }] } },
          { type: "integer", minimum: 1 },
        ],
      },
    ],
  ])("has no list of types for Gemini: %j", (schema, expected) => {
    expect(inside(schema, "no type lists")).toEqual(expected);
  });

  test.each<readonly [JsonObject, JsonObject]>([
    [{}, { anyOf: any }],
    [{ description: "a" }, { description: "a", anyOf: any }],
    [
      { type: "object", properties: { b: true } },
      { type: "object", properties: { b: { anyOf: any } } },
    ],
    [{ type: "array" }, { type: "array", items: { anyOf: any } }],
    [{ properties: {} }, { type: "object", properties: {} }],
    [{ enum: ["a"] }, { enum: ["a"] }],
    [{ const: 1 }, { type: "number", enum: [1] }],
    [{ $ref: "#/$defs/b", description: "b" }, { $ref: "#/$defs/b" }],
    [
      { type: "string", oneOf: [{ format: "date" }, { type: "null" }] },
      { anyOf: [{ type: "string", format: "date" }, { type: "null" }] },
    ],
  ])("has one type for Moonshot: %j", (schema, expected) => {
    expect(inside(schema, "one type each")).toEqual(expected);
  });

  test.each([
    ["^[a-z]+$", "^[a-z]+$"],
    ["^[a-z]+", "^[a-z]+.*$"],
    ["a", "^.*a.*$"],
    ["\\d{4}-[\\w-]$", "^.*[0-9]{4}-[A-Za-z0-9_-]$"],
    ["^(a|b)$", "^(a|b)$"],
    ["a|b", undefined],
    ["^(?=a)b$", undefined],
    ["\\S", undefined],
  ])("has a pattern of the whole text for llama.cpp: %s", (pattern, expected) => {
    expect(inside({ type: "string", pattern }, "whole patterns")).toEqual({ type: "string", pattern: expected });
  });
});

test("a tool goes by a name that the server takes, and is called by its own", async () => {
  const odd = "maps: route (fast)";
  const { baseURL, bodies } = await chatServer((_request, response, body) => {
    const [tool] = body["tools"] as readonly { readonly function: { readonly name: string } }[];
    const called = { id: "a", type: "function", function: { name: tool?.function.name, arguments: "{}" } };
    answeringJson({ choices: [{ message: { tool_calls: [called] }, finish_reason: "tool_calls" }] })(
      _request,
      response,
      body,
    );
  });
  const handler = openaiChat({ baseURL, apiKey: "k", model: "m", stream: false, tools: [{ name: odd }] });
  const call = callOf({
    tools: [{ name: odd, digest: "" }],
    model: { tool_choice: { type: "function", function: { name: odd }, note: odd } },
  });
  const { outcome, deltas } = perform(handler, call);
  expect(await outcome).toMatchObject({ reply: { toolCalls: [{ name: odd }] } });
  expect(deltas).toMatchObject([{ name: odd }]);
  const [{ tools, tool_choice: choice } = {}] = bodies as readonly Record<string, unknown>[];
  const name = expect.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
  expect(tools).toMatchObject([{ function: { name } }]);
  const chosen = { name: (tools as never[])[0]?.["function"]["name"] };
  expect(choice).toEqual({ type: "function", function: chosen, note: odd });
});

describe("keys of properties that the server refuses", () => {
  const long = "x".repeat(65);
  const inner = { type: "object", properties: { "a b": { type: "string" } }, required: ["a b"] };
  const parameters = {
    type: "object",
    properties: { $filter: inner, [long]: { type: "array", items: inner }, plain: { $ref: "#/properties/%24filter" } },
    required: ["plain", "$filter"],
  };
  const given = `{ "$filter": {"a b": "\\"a b\\": 12345678901234567890"}, "${long}": [{"a b":"$filter"}], "plain": 1.0 }`;

  /** Runs a call at a server that calls the tool with the keys of its schema, in pieces of two characters. */
  const called = async (dialect: string, output?: CallLlm["output"]) => {
    const { baseURL, bodies } = await chatServer((_request, response, body) => {
      const [tool] = listOf(body["tools"]) as readonly { readonly function: { readonly parameters: JsonObject } }[];
      const keys = tool?.function.parameters["properties"] as JsonObject;
      const [filter = "", all = ""] = Object.keys(keys);
      const [nested = ""] = Object.keys((keys[filter] as typeof inner).properties);
      const name = output === undefined ? "f" : output.name;
      const text = given.replaceAll('"a b":', `"${nested}":`).replace('"$filter":', `"${filter}":`).replace(long, all);
      const pieces = (text.match(/.{1,2}/gs) ?? []).map((piece) => ({
        tool_calls: [{ index: 0, function: { arguments: piece } }],
      }));
      const first = { tool_calls: [{ index: 0, id: "a", function: { name, arguments: "" } }] };
      begin(response, ...[first, ...pieces].map((delta) => chunkOf(delta)), chunkOf({}, "tool_calls"));
      response.end();
    });
    const reply = messageFromReply("1.1", "1.1", { toolCalls: [{ id: "a", name: "f", arguments: given }] });
    const results = toolCallsOf(reply).map((call) => messageFromResult(call, "completed", "there"));
    const messages = [messageFromDraft("1.0", { role: "user", content: "?" }), reply, ...results];
    const handler = openaiChat({
      baseURL,
      apiKey: "k",
      model: "m",
      dialect,
      tools: output === undefined ? [{ name: "f", parameters }] : [],
    });
    const { outcome, deltas } = perform(handler, callOf({ messages, ...(output && { output }) }));
    return { outcome: await outcome, deltas, body: bodies[0] ?? {} };
  };

  test("are others on the wire, in schemas and in the history, and the own ones in what comes", async () => {
    const { outcome, deltas, body } = await called("anthropic");
    expect(strictRefusal("anthropic", JSON.stringify(body))).toBeNull();
    expect(outcome).toMatchObject({ reply: { toolCalls: [{ name: "f", arguments: given }] } });
    const shown = deltas.flatMap((delta) => (delta.type === "toolCall" ? [delta.arguments] : []));
    expect(shown).toEqual(["", given]);
    const [{ function: tool }] = body["tools"] as [{ function: { parameters: typeof parameters } }];
    const [filter = "", all = "", plain] = Object.keys(tool.parameters.properties);
    expect([filter, plain]).toEqual([expect.stringMatching(/^_filter_\w{8}$/), "plain"]);
    expect(tool.parameters.required).toEqual(["plain", filter]);
    expect(tool.parameters.properties.plain).toEqual({ $ref: `#/properties/${filter}` });
    const [
      ,
      {
        tool_calls: [before],
      },
    ] = body["messages"] as [unknown, { tool_calls: [{ function: { arguments: string } }] }];
    expect(Object.keys(JSON.parse(before.function.arguments) as object)).toEqual([filter, all, "plain"]);
    expect(before.function.arguments).toContain('\\"a b\\": 12345678901234567890');
  });

  test("are others if there is only one, which comes in two pieces", async () => {
    const one = { type: "object", properties: { "a b": { type: "string" } } };
    const tools = new ToolsOnWire(
      [{ name: "f", version: "1", description: "F.", parameters: one }],
      dialectFor("https://api.anthropic.com/v1", "m", "chat"),
    );
    const [key = ""] = Object.keys(Object(tools.declared[0]?.parameters?.["properties"]));
    const call = { id: "a", name: "f", arguments: `{"${key}":1}` };
    const shown: unknown[] = [];
    const onDelta = (delta: LlmDelta): void => void shown.push("arguments" in delta && delta.arguments);
    const outcome = await tools.perform(onDelta, async (show) => {
      for (const piece of [call.arguments.slice(0, 5), call.arguments.slice(5)])
        show({ type: "toolCall", index: 0, ...call, arguments: piece });
      return { type: "completed", reply: { toolCalls: [call] }, finishReason: "tool_calls" };
    });
    expect(key).not.toBe("a b");
    expect(outcome).toMatchObject({ reply: { toolCalls: [{ arguments: '{"a b":1}' }] } });
    expect(shown).toEqual(["", '{"a b":1}']);
    const reply = messageFromReply("1.1", "1.1", { toolCalls: [{ ...call, arguments: '{"a b":1}' }] });
    const [sent = reply] = tools.written(callOf({ messages: [reply] })).messages;
    expect(toolCallsOf(sent).map((each) => each.arguments)).toEqual([call.arguments]);
  });

  test("cost no time that grows with the square of arguments that were cut off in a text full of quotes", async () => {
    const cut = `{"code": "${'\\"'.repeat(200_000)}`;
    const called = { tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: cut } }] };
    const { baseURL } = await chatServer(answeringJson({ choices: [{ message: called, finish_reason: "length" }] }));
    const tools = [{ name: "f", parameters }];
    const handler = openaiChat({ baseURL, apiKey: "k", model: "m", dialect: "anthropic", stream: false, tools });
    expect(await perform(handler).outcome).toMatchObject({ reply: { toolCalls: [{ arguments: cut }] } });
  });
});

test("what only one server can read goes back to it, and to no other", async () => {
  const called = {
    id: "a",
    type: "function",
    function: { name: "f", arguments: "{}" },
    extra_content: { google: { thought_signature: "S" } },
  };
  const message = { reasoning_content: "Hm.", thinking_blocks: [{ type: "x" }], tool_calls: [called] };
  const answer = answeringJson({ choices: [{ message, finish_reason: "tool_calls" }] });
  const [one, other] = [await chatServer(answer), await chatServer(answer)];
  const handlerAt = (baseURL: string) => openaiChat({ baseURL, apiKey: "k", model: "m", stream: false });
  const outcome = await perform(handlerAt(one.baseURL)).outcome;
  if (outcome.type === "failed") throw new Error(outcome.failure.message);
  const reply = messageFromReply("1.1", "1.1", outcome.reply);
  const results = toolCallsOf(reply).map((call) => messageFromResult(call, "completed", "there"));
  const call = callOf({ messages: [messageFromDraft("1.0", { role: "user", content: "?" }), reply, ...results] });
  await perform(handlerAt(one.baseURL), call).outcome;
  await perform(handlerAt(other.baseURL), call).outcome;
  const sent = [one, other].map(({ bodies }) => listOf(bodies.at(-1)?.["messages"])[1]);
  expect(sent[0]).toEqual({ role: "assistant", content: null, ...message });
  const { extra_content: _, ...plain } = called;
  expect(sent[1]).toEqual({ role: "assistant", content: null, tool_calls: [plain] });
});

test.each([
  ["its own signature", "S", "S"],
  ["the word that Gemini takes for none", undefined, "skip_thought_signature_validator"],
])("a call goes back to Gemini with %s", async (_, given, expected) => {
  const signed = given === undefined ? {} : { extra_content: { google: { thought_signature: given } } };
  const called = { id: "a", type: "function", function: { name: "f", arguments: "{}" }, ...signed };
  const choices = [{ message: { tool_calls: [called] }, finish_reason: "tool_calls" }];
  const { baseURL, bodies } = await chatServer(answeringJson({ choices }));
  const handler = openaiChat({ baseURL, apiKey: "k", model: "m", stream: false, dialect: "gemini" });
  const outcome = await perform(handler).outcome;
  if (outcome.type === "failed") throw new Error(outcome.failure.message);
  const reply = messageFromReply("1.1", "1.1", outcome.reply);
  const results = toolCallsOf(reply).map((call) => messageFromResult(call, "completed", "there"));
  const user = messageFromDraft("1.0", { role: "user", content: "?" });
  await perform(handler, callOf({ messages: [user, reply, ...results] })).outcome;
  expect(listOf(bodies.at(-1)?.["messages"])[1]).toMatchObject({
    tool_calls: [{ extra_content: { google: { thought_signature: expected } } }],
  });
});

describe("reasoning that a server is owed", () => {
  const thought = (text: string, content: string, field = "reasoning_content"): NonNullable<ReplyDraft["content"]> => [
    { type: "reasoning", text, provider: { fields: [field] } },
    { type: "text", text: content },
  ];
  const asking = messageFromReply("1.1", "1.1", { toolCalls: [{ id: "a", name: "f", arguments: "{}" }] });
  const results = toolCallsOf(asking).map((call) => messageFromResult(call, "completed", "there"));
  const user = (id: string) => messageFromDraft(id, { role: "user", content: "?" });
  const last = messageFromReply("1.3", "1.3", { content: thought("So.", "It rains.", "reasoning") });
  const plain = messageFromReply("2.1", "2.1", { content: thought("Hm.", "Yes.") });
  const messages = [user("1.0"), asking, ...results, last, user("2.0"), plain, user("3.0")];

  const owedOf = async (dialect: string) => {
    const { baseURL, bodies } = await chatServer(answeringJson({ choices: [{ message: { content: "." } }] }));
    const handler = openaiChat({ baseURL, apiKey: "k", model: "deepseek-v4-pro", stream: false, dialect });
    await perform(handler, callOf({ messages })).outcome;
    expect(strictRefusal("deepseek", JSON.stringify(bodies[0]))).toBeNull();
    const replies = listOf(bodies[0]?.["messages"]).filter(isObject);
    return replies.filter(({ role }) => role === "assistant").map((each) => each["reasoning_content"]);
  };

  test("goes back with every reply of a turn with calls, the final one too, and with no other", async () => {
    expect(await owedOf("deepseek")).toEqual(["", "", undefined]);
    expect(await owedOf("openrouter-deepseek")).toEqual(["", "So.", undefined]);
  });
});

test("a history of calls without tools goes as texts to servers that refuse it, and as it is with tools", async () => {
  const { baseURL, bodies } = await chatServer(answeringJson({ choices: [{ message: { content: "." } }] }));
  const asking = messageFromReply("1.1", "1.1", { toolCalls: [{ id: "a", name: "f", arguments: '{"a":1}' }] });
  const image = { type: "image", url: "data:image/png;base64,AA==" } as const;
  const results = toolCallsOf(asking).map((call) => messageFromResult(call, "completed", [image]));
  const messages = [messageFromDraft("1.0", { role: "user", content: "?" }), asking, ...results];
  const handler = openaiChat({ baseURL, apiKey: "k", model: "claude-sonnet-4-5", stream: false });
  const offering = openaiChat({ baseURL, apiKey: "k", model: "claude-sonnet-4-5", tools: [{ name: "f" }] });
  await perform(handler, callOf({ messages })).outcome;
  await perform(offering, callOf({ messages })).outcome;
  for (const body of bodies) expect(strictRefusal("anthropic", JSON.stringify(body))).toBeNull();
  expect(listOf(bodies[0]?.["messages"]).slice(1)).toEqual([
    { role: "assistant", content: 'Called f with {"a":1}' },
    {
      role: "user",
      content: [
        { type: "text", text: "Result of f:" },
        { type: "image_url", image_url: { url: image.url } },
      ],
    },
  ]);
  expect(listOf(bodies[1]?.["messages"])[2]).toMatchObject({ role: "tool" });
});
