import { describe, expect, it } from "vitest";

import { reply, scriptedModel } from "../../src/models/index.ts";
import { loopbackServer, strictFamilies, type StrictFamily, strictRefusal } from "../../src/server/index.ts";

type Fields = Record<string, unknown>;

const user = (content: unknown = "Hello.", more: Fields = {}): Fields => ({ role: "user", content, ...more });
const says = (content: unknown, more: Fields = {}): Fields => ({ role: "assistant", content, ...more });
const asks = (ids: readonly string[], called: Fields = {}, more: Fields = {}): Fields => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({
    id,
    type: "function",
    function: { name: "look", arguments: "{}", ...called },
  })),
  ...more,
});
const result = (id: string, content: unknown = "rain", more: Fields = {}): Fields => ({
  role: "tool",
  tool_call_id: id,
  content,
  ...more,
});
const round = (id: string, called: Fields = {}, content: unknown = "rain"): readonly Fields[] => [
  asks([id], called),
  result(id, content),
];
const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
const texts = [
  { type: "text", text: "a" },
  { type: "text", text: "b" },
];
const withTool = (tool: Fields): Fields => ({
  messages: [user()],
  tools: [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} }, ...tool } }],
});
const schema = (parameters: Fields): Fields => withTool({ parameters });
const inside = (each: Fields): Fields => ({
  type: "object",
  properties: { a: { type: "array", items: each } },
});
const withKey = (key: string): Fields => ({
  type: "object",
  properties: { a: { items: { properties: { [key]: {} } } } },
});
const prompt = (...messages: readonly Fields[]): Fields => ({ messages });
const input = (...items: readonly Fields[]): Fields => ({ input: [user(), ...items], store: false });
const called = (more: Fields = {}): Fields => ({
  type: "function_call",
  call_id: "call_1",
  name: "look",
  arguments: "{}",
  ...more,
});
const output = (id = "call_1"): Fields => ({ type: "function_call_output", call_id: id, output: "rain" });
const useTool = (more: Fields = {}): Fields => says([{ type: "tool_use", id: "t1", name: "look", input: {}, ...more }]);
const toolResult = (id = "t1", content: unknown = "rain"): Fields =>
  user([{ type: "tool_result", tool_use_id: id, content }]);

const system = { role: "system", content: "Be kind." };
const plain = prompt(system, user(), says("Yes."), user("And now?"));
const afterRound = (id: string, more: Fields = {}): Fields => prompt(user(), asks([id], {}, more), result(id));
const thought = { reasoning_content: "Hm." };
const thoughtRound = [user(), asks(["call_1"], {}, thought), result("call_1")];
const accepted: Readonly<Record<StrictFamily, readonly Fields[]>> = {
  "openai-chat": [plain, afterRound("call_1"), prompt(user([...texts, image])), prompt(user(), says(""), user())],
  "openai-responses": [
    input(called(), output()),
    input({ type: "reasoning", id: "rs_1", summary: [], encrypted_content: "x" }, called({ id: "fc_1" }), output()),
    { input: "Hello." },
  ],
  anthropic: [
    plain,
    { ...withTool({}), ...afterRound("toolu_1") },
    { ...withTool({}), ...prompt(user(), asks(["t1"], {}, { content: "" }), result("t1", "")) },
  ],
  "anthropic-messages": [
    prompt(user(), useTool(), toolResult()),
    prompt(user(), says("Yes."), user([{ type: "text", text: "And?" }])),
  ],
  gemini: [plain, afterRound("call_1")],
  mistral: [plain, afterRound("abcDEF123")],
  deepseek: [
    plain,
    afterRound("call_1"),
    prompt(user(texts)),
    { model: "deepseek-v4-pro", ...prompt(...thoughtRound, says("It rains.", thought), user(), says("Yes."), user()) },
  ],
  groq: [plain, afterRound("call_1"), prompt(user([...texts, image]))],
  "llama.cpp": [plain, afterRound("call_1"), prompt(user(texts), says(texts), user())],
  ollama: [plain, afterRound("call_1"), prompt(user([...texts, image]))],
  vllm: [plain, afterRound("call_1"), prompt(user([...texts, image]))],
  kimi: [plain, prompt(...thoughtRound), { thinking: { type: "disabled" }, ...afterRound("call_1") }],
  openrouter: [
    plain,
    afterRound("call_1", { reasoning_details: [] }),
    { model: "mistralai/mistral-large", ...prompt({ role: "developer", content: "a" }, user()) },
  ],
  "text-completions": [{ prompt: "Once upon", stop: ["a"] }],
};

/** Bodies that a family refuses, each with the broken rule. */
const refused: Readonly<Record<StrictFamily, readonly (readonly [rule: string, body: Fields])[]>> = {
  "openai-chat": [
    ["some messages", prompt()],
    ["well-formed text", prompt(user("\ud83d"))],
    ["well-formed text", prompt(user("a", { name: "\udc00" }))],
    ["members of messages", prompt(user(), says("Yes.", { reasoning_content: "Hm." }), user())],
    ["members of messages", prompt({ role: "robot", content: "a" })],
    ["content of messages", prompt(user(), says(null), user())],
    ["images", prompt(user(), ...round("call_1", {}, [image]))],
    ["types of parts", prompt(user([{ type: "thinking", thinking: "Hm." }]))],
    ["calls and results", prompt(user(), asks(["call_1"]), user())],
    ["calls and results", prompt(user(), result("call_1"))],
    ["ids of calls", afterRound("c".repeat(41))],
    ["ids of calls", afterRound("")],
    ["names of speakers", prompt(user("a", { name: "Ann Lee" }))],
    ["names in the history", prompt(user(), ...round("call_1", { name: "look up" }))],
    ["names of tools", withTool({ name: "look.up" })],
    ["names of tools", withTool({ name: "l".repeat(65) })],
    ["schemas of tools", schema({ type: "object" })],
    ["schemas of tools", schema({})],
    ["schemas of tools", schema({ type: "object", properties: {}, oneOf: [] })],
    ["schemas of tools", schema({ type: "object", properties: { a: { type: "array" } } })],
    ["number of tools", { messages: [user()], tools: Array.from({ length: 129 }, () => ({ type: "function" })) }],
  ],
  "openai-responses": [
    ["some input", { input: [] }],
    ["well-formed text", input(called(), { ...output(), output: "\ud83d" })],
    ["members of items", input(called({ extra_content: {} }), output())],
    ["types of parts", input({ role: "assistant", content: [{ type: "input_text", text: "a" }] })],
    ["reasoning is followed", input({ type: "reasoning", summary: [], encrypted_content: "x" }, user())],
    ["reasoning is encrypted", input({ type: "reasoning", id: "rs_1", summary: [] }, called(), output())],
    ["calls and results", input(called())],
    ["calls and results", input(output())],
    ["ids of calls", input(called({ call_id: "c".repeat(65) }), output("c".repeat(65)))],
    ["ids of calls", input(called({ call_id: "" }), output(""))],
    ["ids of items", input(called({ id: "call_1" }), output())],
    ["ids of items", input(called({ id: "fc/1" }), output())],
    ["ids of items differ", input(...[1, 2].flatMap(() => [called({ id: "fc_1" }), output()]))],
    ["names in the history", input(called({ name: "look up" }), output())],
    ["names of tools", { input: "a", tools: [{ type: "function", name: "look up", parameters: {} }] }],
    ["schemas of tools", { input: "a", tools: [{ type: "function", name: "look", parameters: { type: "object" } }] }],
  ],
  anthropic: [
    ["calls without tools", afterRound("toolu_1")],
    ["first message", prompt(says("Hello."), user())],
    ["first message", prompt({ role: "system", content: "a" }, ...round("t1"))],
    ["blank text", prompt(user(), says(" \n"), user())],
    ["blank text", prompt(user(), says(""), user())],
    ["blank text", prompt(user([{ type: "text", text: "" }, image]))],
    ["blank text", prompt(user(), asks(["t1"], {}, { content: "\n" }), result("t1"))],
    ["calls and results", prompt(user(), asks(["t1", "t2"]), result("t1"), user())],
    ["ids of calls differ", prompt(user(), ...round("t1"), says("a"), user(), ...round("t1"))],
    ["ids of calls", afterRound("a.b")],
    ["names in the history", prompt(user(), ...round("t1", { name: "look up" }))],
    ["arguments of calls", prompt(user(), ...round("t1", { arguments: '{"city":"Os' }))],
    ["arguments of calls", prompt(user(), ...round("t1", { arguments: "[]" }))],
    ["schemas of tools", schema({})],
    ["keys of properties", schema({ type: "object", properties: { $filter: {} } })],
    ["keys of properties", schema(withKey("a b"))],
    ["keys of properties", schema(withKey("x".repeat(65)))],
  ],
  "anthropic-messages": [
    ["first message", prompt(says("Hello."))],
    ["roles", prompt(user(), { role: "tool", content: "a" })],
    ["content of messages", prompt(user(), says([]), user())],
    ["blank text", prompt(user(), says(" "), user())],
    ["blank text", prompt(user(), useTool(), toolResult("t1", [{ type: "text", text: "" }]))],
    ["blank text", { ...prompt(user()), system: [{ type: "text", text: " " }] }],
    ["calls", prompt(user(), useTool({ id: "a.b" }), toolResult("a.b"))],
    ["calls", prompt(user(), useTool({ name: "look up" }), toolResult())],
    ["calls", prompt(user(), useTool({ input: "{" }), toolResult())],
    ["ids of calls differ", prompt(user(), useTool(), toolResult(), useTool(), toolResult())],
    ["calls and results", prompt(user(), useTool(), user())],
    ["calls and results", prompt(user(), toolResult())],
    ["names of tools", { ...prompt(user()), tools: [{ name: "look up", input_schema: { type: "object" } }] }],
    ["schemas of tools", { ...prompt(user()), tools: [{ name: "look", input_schema: {} }] }],
    ["keys of properties", { ...prompt(user()), tools: [{ name: "look", input_schema: withKey("filter[id]") }] }],
  ],
  gemini: [
    ["schemas in schemas", schema(inside({ type: ["string", "null"] }))],
    ["calls follow a question or a result", prompt(...round("call_1"))],
    ["calls follow a question or a result", prompt(user(), says("a"), ...round("call_1"))],
    ["calls and results", prompt(user(), asks(["call_1"]), user())],
    ["empty content", prompt(user(), says(""), user())],
    ["names in the history", prompt(user(), ...round("call_1", { name: "1look" }))],
    ["names of tools", withTool({ name: "-look" })],
    ["arguments of calls", prompt(user(), ...round("call_1", { arguments: "" }))],
    ["thought signatures", { model: "gemini-3-pro", ...afterRound("call_1") }],
  ],
  mistral: [
    ["members of messages", prompt(user("a", { name: "Ann" }))],
    ["members of messages", prompt(user(), says("a", { reasoning_content: "Hm." }), user())],
    ["members of messages", prompt({ role: "developer", content: "a" }, user())],
    ["order of roles", prompt(user(), ...round("abcDEF123"), user())],
    ["order of roles", prompt(user(), says("a"), { role: "system", content: "a" }, user())],
    ["last message", prompt(user(), says("a"))],
    ["replies that say nothing", prompt(user(), says(""), user())],
    ["calls and results", prompt(user(), asks(["abcDEF123"]), user())],
    ["ids of calls differ", prompt(user(), asks(["abcDEF123", "abcDEF123"]), result("abcDEF123"))],
    ["ids of calls", afterRound("call_1")],
    ["names in the history", prompt(user(), ...round("abcDEF123", { name: "look up" }))],
    ["names of tools", withTool({ name: "look.up" })],
    ["arguments of calls", prompt(user(), ...round("abcDEF123", { arguments: "{" }))],
  ],
  deepseek: [
    ["roles", prompt({ role: "developer", content: "a" }, user())],
    ["lists of parts", prompt({ role: "system", content: texts }, user())],
    ["lists of parts", prompt(user(), ...round("call_1", {}, texts))],
    ["images", prompt(user([image]))],
    ["replies that say nothing", prompt(user(), says("", { reasoning_content: "Hm." }), user())],
    ["calls and results", prompt(user(), asks(["call_1"]), user())],
    ["ids of calls differ", prompt(user(), asks(["a", "a"]), result("a"), result("a"))],
    ["names of tools", withTool({ name: "look up" })],
    ["first message", { model: "deepseek-reasoner", ...prompt(says("Hello."), user()) }],
    ["reasoning in turns with calls", { model: "deepseek-reasoner", ...afterRound("call_1") }],
    ["reasoning in turns with calls", { thinking: { type: "enabled" }, ...afterRound("call_1") }],
    [
      "reasoning in turns with calls",
      { model: "deepseek-v4-pro", ...prompt(...thoughtRound, says("It rains."), user()) },
    ],
  ],
  groq: [
    ["members of messages", prompt(user(), says("a", { extra_content: {} }), user())],
    ["reasoning of other models", prompt(user(), says("a", { reasoning: "Hm." }), user())],
    ["content of messages", prompt({ role: "system", content: texts }, user())],
    ["content of messages", prompt(user(), ...round("call_1", {}, texts))],
    ["content of messages", prompt(user(), says(null), user())],
    ["calls and results", prompt(user(), result("call_1"))],
    ["names in the history", prompt(user(), ...round("call_1", { name: "look up" }))],
    ["names of tools", withTool({ name: "look up" })],
  ],
  "llama.cpp": [
    ["one system message", prompt(system, system, user())],
    ["schemas in schemas", schema(inside({ not: {} }))],
    ["schemas in schemas", schema(inside({ type: "string", pattern: "^a" }))],
    ["content of messages", prompt({ role: "user" })],
    ["content of messages", prompt(user(), says(null), user())],
    ["types of parts", prompt(user(), ...round("call_1", {}, [image]))],
    ["arguments of calls", prompt(user(), ...round("call_1", { arguments: '{"city":"Os' }))],
  ],
  ollama: [
    ["content of messages", prompt(user(), says(null), user())],
    ["types of parts", prompt(user([{ type: "file" }]))],
    ["images", prompt(user([{ type: "image_url", image_url: { url: "https://example.com/a.png" } }]))],
    ["arguments of calls", prompt(user(), ...round("call_1", { arguments: "" }))],
  ],
  vllm: [
    ["one system message", prompt(user(), says("Yes."), system, user())],
    ["types of parts", prompt(user([{ type: "tool_use" }]))],
    ["arguments of calls", prompt(user(), ...round("call_1", { arguments: "null" }))],
  ],
  kimi: [
    ["arguments of calls", prompt(user(), ...round("call_1", { arguments: "null" }))],
    ["reasoning beside calls", { model: "kimi-k2.5", ...afterRound("call_1") }],
    ["schemas in schemas", schema(inside({}))],
    ["schemas in schemas", schema(inside({ type: ["string", "null"] }))],
    ["schemas in schemas", schema(inside({ type: "string", anyOf: [{ type: "string" }] }))],
    ["schemas in schemas", schema(inside({ anyOf: [{ type: "string" }, {}] }))],
    ["schemas in schemas", schema(inside({ $ref: "#/$defs/a", description: "a" }))],
  ],
  openrouter: [
    ["reasoning beside calls", { model: "moonshotai/kimi-k2.6", ...afterRound("call_1") }],
    ["blank text", { model: "anthropic/claude-sonnet-4.6", ...prompt(user(), says(""), user()) }],
    ["ids of calls", { model: "mistralai/mistral-large", ...afterRound("call_1") }],
    ["calls follow a question or a result", { model: "google/gemini-2.5-pro", ...prompt(...round("call_1")) }],
    ["reasoning in turns with calls", { model: "deepseek/deepseek-v4-pro", ...afterRound("call_1") }],
    ["arguments of calls", { model: "qwen/qwen3", ...prompt(user(), ...round("call_1", { arguments: "{" })) }],
  ],
  "text-completions": [
    ["well-formed text", { prompt: "\ud83d" }],
    ["prompt", { prompt: "" }],
    ["stop strings", { prompt: "a", stop: ["a", "b", "c", "d", "e"] }],
  ],
};

describe.for(strictFamilies)("a strict server of the family %s", (family) => {
  it.for(accepted[family].map((body) => [JSON.stringify(body)] as const))("takes %s", ([body]) => {
    expect(strictRefusal(family, body)).toBeNull();
  });

  it.for(refused[family].map(([rule, body]) => [rule, JSON.stringify(body)] as const))(
    'refuses, by the rule "%s", %s',
    ([rule, body]) => {
      const refusal = strictRefusal(family, body);
      expect(refusal).toMatchObject({ family, rule });
      expect(refusal?.source).toMatch(/https:\/\//);
      expect(refusal?.status).toBeGreaterThanOrEqual(400);
      expect(refusal?.message).not.toBe("");
    },
  );
});

describe("a loopback server that is strict", () => {
  const ask = async (url: string, body: Fields): Promise<{ readonly status: number; readonly body: unknown }> => {
    const response = await fetch(`${url}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };

  it("answers a request that its family refuses with the error of that family", async () => {
    const model = scriptedModel([reply("Hello.")]);
    await using server = await loopbackServer({ model, strict: "mistral" });

    const answer = await ask(server.url, { model: "m", ...afterRound("call_1") });

    expect(answer).toEqual({
      status: 400,
      body: {
        object: "error",
        message: "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
        type: "invalid_function_call",
        param: null,
        code: "3280",
      },
    });
    expect(await ask(server.url, { model: "m", ...afterRound("abcDEF123") })).toMatchObject({ status: 200 });
    model.assertComplete();
  });

  it.for([
    ["gemini", prompt(...round("call_1")), 400, [{ error: { code: 400, status: "INVALID_ARGUMENT" } }]],
    ["anthropic", prompt(says("a")), 400, { type: "error", error: { type: "invalid_request_error" } }],
    ["llama.cpp", prompt(user(), ...round("call_1", { arguments: "{" })), 500, { error: { type: "server_error" } }],
    ["mistral", prompt(user("a", { name: "Ann" })), 422, { message: { detail: [{ type: "extra_forbidden" }] } }],
    ["openrouter", prompt(user([{ type: "b" }])), 400, { error: { metadata: { raw: "Unknown part type: b" } } }],
  ] as const)("has the shape of the errors of %s", async ([strict, body, status, shape]) => {
    await using server = await loopbackServer({ model: scriptedModel([]), strict });
    expect(await ask(server.url, { model: "m", ...body })).toMatchObject({ status, body: shape });
  });
});
