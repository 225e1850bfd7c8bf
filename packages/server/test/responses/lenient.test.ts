import { textOf } from "@colloquy/machine";
import { reply, scriptedModel, toolCalls } from "@colloquy/runtime-test/models";
import { Agent, OpenAIProvider, Runner, tool as agentTool, webSearchTool } from "@openai/agents";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { lookUp, responding, streamed } from "./responding.ts";

/** A first request as Codex sends it (codex-rs/core/src/client.rs and client_common.rs, `ResponsesApiRequest`). */
const codex = {
  model: "gpt-5-codex",
  instructions: "You are Codex, based on GPT-5.",
  input: [
    {
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "<permissions instructions>read-only</permissions instructions>" }],
    },
    { type: "message", role: "user", content: [{ type: "input_text", text: "<environment_context>/src" }] },
    { type: "message", role: "user", content: [{ type: "input_text", text: "List the files." }] },
  ],
  tools: [
    {
      type: "function",
      name: "shell",
      description: "Runs a shell command and returns its output.",
      strict: false,
      parameters: {
        type: "object",
        properties: { command: { type: "array", items: { type: "string" } } },
        required: ["command"],
        additionalProperties: false,
      },
    },
    { type: "local_shell" },
    { type: "web_search", external_web_access: false },
    {
      type: "custom",
      name: "apply_patch",
      description: "Edits files.",
      format: { type: "grammar", syntax: "lark", definition: "start: begin_patch" },
    },
    { type: "namespace", name: "mcp__docs", description: "Docs.", tools: [{ ...lookUp, name: "search" }] },
    { type: "tool_search", execution: "client", description: "Finds tools.", parameters: { type: "object" } },
  ],
  tool_choice: "auto",
  parallel_tool_calls: false,
  reasoning: { effort: "medium", summary: "auto" },
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "0199a213-81c0-7800-8aa1-bbab2a035a53",
  text: { verbosity: "low" },
  client_metadata: { "x-codex-installation-id": "1" },
} as const;

const completedOf = (events: Awaited<ReturnType<typeof streamed>>) =>
  events.flatMap((event) => (event.type === "response.completed" ? [event.response] : []))[0];

describe("Codex", () => {
  test("is answered, its shell is offered, and what was skipped is said in the response and to the operator", async () => {
    const model = scriptedModel([toolCalls([{ name: "shell", arguments: { command: ["ls"] } }])]);
    const warned: (readonly string[])[] = [];
    const { server } = responding(model, {}, { onWarning: (warnings) => void warned.push(warnings) });
    const response = completedOf(await streamed(server, "/v1/responses", codex));
    expect(response?.output).toMatchObject([{ type: "function_call", name: "shell" }]);
    expect(response?.tools).toMatchObject([{ type: "function", name: "shell" }]);
    expect(model.calls[0]?.tools?.map(({ name }) => name)).toEqual(["shell"]);
    expect(model.calls[0]?.messages.map(textOf)).toEqual([
      "You are Codex, based on GPT-5.\n\n<permissions instructions>read-only</permissions instructions>",
      "<environment_context>/src",
      "List the files.",
    ]);
    const places = ["client_metadata", "include[0]", "tools[1]", "tools[2]", "tools[3]", "tools[4]", "tools[5]"];
    expect(warned.map((each) => each.map((warning) => warning.split(":")[0]))).toEqual([places]);
    expect(response?.metadata?.["colloquy_skipped"]).toContain('tools[1]: skipped; tools of the type "local_shell"');
    expect(response?.metadata?.["colloquy_skipped"]?.length).toBeLessThanOrEqual(512);
  });

  test("sends back all that was said, and calls and items of its own kinds", async () => {
    const model = scriptedModel([reply("Two files.")]);
    const warned: string[] = [];
    const { server } = responding(model, {}, { onWarning: (warnings) => void warned.push(...warnings) });
    const input = [
      ...codex.input,
      {
        type: "reasoning",
        summary: [{ type: "summary_text", text: "I list." }],
        content: null,
        encrypted_content: "x",
      },
      { type: "function_call", name: "shell", arguments: '{"command":["ls"]}', call_id: "call_1" },
      { type: "function_call_output", call_id: "call_1", output: '{"output":"a\\nb","metadata":{"exit_code":0}}' },
      {
        type: "custom_tool_call",
        status: "completed",
        call_id: "call_2",
        name: "apply_patch",
        input: "*** Begin Patch",
      },
      { type: "custom_tool_call_output", call_id: "call_2", output: "Done!" },
      {
        type: "local_shell_call",
        call_id: "call_3",
        status: "completed",
        action: { type: "exec", command: ["ls"], timeout_ms: null, working_directory: null, env: null, user: null },
      },
      { type: "function_call_output", call_id: "call_3", output: "a" },
      { type: "web_search_call", status: "completed", action: { type: "search", query: "ls" } },
      { type: "ghost_snapshot", ghost_commit: { id: "1" } },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Done." }] },
      { type: "message", role: "critic", content: "Hm." },
      { type: "message", role: "user", content: [{ type: "input_text", text: "How many?" }] },
    ];
    const response = completedOf(await streamed(server, "/v1/responses", { ...codex, tools: [], input }));
    expect(response?.status).toBe("completed");
    const said = model.calls[0]?.messages.map(textOf) ?? [];
    expect(said.at(-1)).toBe("How many?");
    expect(said).toContain("Done.");
    const results = model.calls[0]?.messages.flatMap(({ role, parts }) => (role === "tool" ? [parts[0]] : []));
    expect(JSON.stringify(results)).toContain("Done!");
    expect(results).toHaveLength(3);
    expect(warned.filter((warning) => warning.startsWith("input"))).toEqual([
      expect.stringMatching(/^input\[10\]: a web_search_call is kept/u),
      expect.stringMatching(/^input\[11\]: skipped; items of the type "ghost_snapshot"/u),
      expect.stringMatching(/^input\[13\]: skipped; messages of the role "critic"/u),
    ]);
  });
});

test("OpenAI's agents run beside a hosted tool, which is skipped", async () => {
  const model = scriptedModel([toolCalls([{ name: "look_up", arguments: { id: "7" } }]), reply("It is Ada.")]);
  const warned: string[] = [];
  const { client } = responding(model, {}, { onWarning: (warnings) => void warned.push(...warnings) });
  const modelProvider = new OpenAIProvider({ openAIClient: client, useResponses: true });
  const parameters = z.object({ id: z.string() });
  const agent = new Agent({
    name: "desk",
    model: "any",
    modelSettings: { providerData: { context_management: [{ type: "compaction", compact_threshold: 1000 }] } },
    tools: [
      webSearchTool(),
      agentTool({ name: "look_up", description: "Looks up.", parameters, execute: async () => "Ada" }),
    ],
  });
  const result = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, "Who is 7?");
  expect(result.finalOutput).toBe("It is Ada.");
  expect(model.calls[0]?.tools?.map(({ name }) => name)).toEqual(["look_up"]);
  expect(warned.some((warning) => warning.includes("web_search"))).toBe(true);
  expect(warned.some((warning) => warning.startsWith("context_management"))).toBe(true);
});

test("the plug-in of llm for the Responses API is answered", async () => {
  // llm-openai-plugin sends messages without a type, and always the same `include`.
  const model = scriptedModel([reply("Hello.")]);
  const { client } = responding(model);
  const body = {
    model: "gpt-5",
    input: [
      { role: "developer", content: "Be short." },
      { role: "user", content: [{ type: "input_text", text: "Hi" }] },
    ],
    include: ["reasoning.encrypted_content"],
    store: false,
    stream: false,
    top_logprobs: 3,
    truncation: "auto",
  };
  const response = await client.post<{ readonly metadata: Readonly<Record<string, string>> }>("/responses", { body });
  expect(response).toMatchObject({ status: "completed", output: [{ content: [{ text: "Hello." }] }] });
  expect(response.metadata["colloquy_skipped"]?.split("\n").map((line) => line.split(":")[0])).toEqual([
    "include[0]",
    "truncation",
    "top_logprobs",
  ]);
});

describe("what was skipped", () => {
  test("is said beside the metadata of the request, which the model is not sent", async () => {
    const { client } = responding(scriptedModel([reply("Hello.")]));
    const body = { input: "Hi", metadata: { topic: "x" }, seed: 7, stream_options: { include_usage: true } };
    const { id, metadata } = await client.post<{ id: string; metadata: object }>("/responses", { body });
    const all = {
      topic: "x",
      colloquy_skipped:
        "seed: skipped; it is not known here\nstream_options.include_usage: skipped; streams have no such option here",
    };
    expect(metadata).toEqual(all);
    expect((await client.responses.retrieve(id)).metadata).toEqual(all);
  });

  test("takes its tools from those that are allowed, and allows none in place of none that is left", async () => {
    const model = scriptedModel([reply("One."), reply("Two.")]);
    const { client } = responding(model);
    const [search, called] = [{ type: "web_search" }, { type: "function", name: "look_up" }];
    const ask = (allowed: readonly object[]) =>
      client.post("/responses", {
        body: {
          input: "Hi",
          tools: [lookUp, search],
          tool_choice: { type: "allowed_tools", mode: "auto", tools: allowed },
        },
      });
    expect(await ask([search, called])).toMatchObject({ tool_choice: { type: "allowed_tools", tools: [called] } });
    expect(await ask([search])).toMatchObject({ tool_choice: "none" });
    model.assertComplete();
  });

  test("is nothing where all of a request is used", async () => {
    const model = scriptedModel([reply("Hello.")]);
    const warned: unknown[] = [];
    const { client } = responding(model, {}, { onWarning: (warnings) => void warned.push(warnings) });
    const response = await client.responses.create({
      model: "any",
      input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }] }],
      tools: [lookUp],
      include: [],
      truncation: "disabled",
      top_logprobs: 0,
      stream_options: null,
    });
    expect(response.metadata).toEqual({});
    expect(warned).toEqual([]);
  });
});

describe("a request that says what is meant in another form", () => {
  const question = { role: "user", content: "Hi" };
  const call = { type: "function_call", call_id: "c", name: "look_up", arguments: { id: "7" } };

  test.each([
    { input: "Hi", previous_response_id: "" },
    { input: "Hi", conversation: "" },
    { input: question },
    { input: ["Hi"] },
    { input: "Hi", include: "reasoning.encrypted_content" },
    { input: "Hi", tools: [{ type: "function", function: lookUp }] },
    { input: "Hi", tools: [{ ...lookUp, type: undefined }] },
    { input: [question, call, { type: "function_call_output", call_id: "c", output: { name: "Ada" } }, question] },
    { input: "Hi", metadata: { count: 1, nothing: null } },
    { input: { role: "user", content: ["Hi", null, { text: "there" }, { type: "input_text", text: null }] } },
    { input: { role: "user", content: { type: "input_text", text: "Hi" } } },
    { input: [question, call, { type: "function_call_output", call_id: "c", output: ["Ada", "Lovelace"] }, question] },
    { input: "Hi", max_output_tokens: -1 },
    { input: "Hi", max_output_tokens: "100" },
  ])("is answered, and so is the next of its thread: %j", async (body) => {
    const model = scriptedModel([reply("One."), reply("Two.")]);
    const { client } = responding(model);
    const { id } = await client.post<{ readonly id: string }>("/responses", { body });
    await client.post("/responses", { body: { input: "And?", previous_response_id: id } });
    model.assertComplete();
    const offered = "tools" in body ? [lookUp.name] : [];
    expect(model.calls[0]?.tools?.map(({ name }) => name)).toEqual(offered);
  });

  test.each([
    ["", undefined],
    ["any", "required"],
    [{ type: "auto" }, "auto"],
    [{ type: "any" }, "required"],
    [
      { type: "function", function: { name: "look_up" } },
      { type: "function", function: { name: "look_up" } },
    ],
  ])("has the tool choice %j as the model takes it", async (tool_choice, expected) => {
    const model = scriptedModel([reply("One.")]);
    const { client } = responding(model);
    await client.post("/responses", { body: { input: "Hi", tools: [lookUp], tool_choice } });
    expect(model.calls[0]?.model["tool_choice"]).toEqual(expected);
  });

  test("has tools by names with dots, and the first of two of one name", async () => {
    const model = scriptedModel([toolCalls([{ name: "mcp.docs/search", arguments: {} }])]);
    const { client } = responding(model);
    const tools = [{ ...lookUp, name: "mcp.docs/search" }, lookUp, { ...lookUp, description: "Again." }];
    const response = await client.post("/responses", { body: { input: "Hi", tools } });
    expect(response).toMatchObject({ output: [{ type: "function_call", name: "mcp.docs/search" }] });
    expect(response).toMatchObject({ metadata: { colloquy_skipped: expect.stringMatching(/^tools\[2\]: skipped/u) } });
  });

  test("has what of its metadata can't be kept cut or skipped, and said", async () => {
    const warned: string[] = [];
    const { client } = responding(
      scriptedModel([reply("One.")]),
      {},
      { onWarning: (warnings) => void warned.push(...warnings) },
    );
    const many = Object.fromEntries(Array.from({ length: 16 }, (_, index) => [`k${index}`, "v"]));
    const metadata = { long: "x".repeat(600), ["k".repeat(65)]: "x", ...many };
    const response = await client.post<{ metadata: Readonly<Record<string, string>> }>("/responses", {
      body: { input: "Hi", metadata },
    });
    expect(response.metadata["long"]).toHaveLength(512);
    expect(response.metadata["k14"]).toBe("v");
    expect(warned.map((warning) => warning.split(":")[0])).toEqual([
      "metadata.long",
      `metadata.${"k".repeat(64)}`,
      "metadata.k15",
    ]);
  });
});

describe("calls and outputs that do not match", () => {
  const user = (content: string) => ({ role: "user", content });
  const call = { type: "function_call", call_id: "c", name: "look_up", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "c", output: "Ada" };
  const custom = { type: "custom_tool_call", call_id: "c", name: "patch", input: "x" };

  test.each([
    ["a call without an output", [user("Who?"), call, user("And?")], 'no result for call "c"'],
    ["a call without an output at the end", [user("Who?"), call], 'no result for call "c"'],
    ["a custom call without an output", [user("Who?"), custom, user("And?")], 'no result for call "c"'],
    ["an output without a call", [user("Who?"), output, user("And?")], 'the result of call "c"'],
    ["an output that comes twice", [user("Who?"), call, output, output, user("And?")], "a second result"],
    ["an output that comes late", [user("Who?"), call, user("And?"), output, user("So?")], "the place of the result"],
    ["reasoning that is only named", [user("Who?"), { type: "item_reference", id: "rs_1" }, user("And?")], "rs_1"],
  ])("are answered, with a warning: %s", async (_, input, words) => {
    for (const more of [{}, { store: false }]) {
      const model = scriptedModel([reply("Ada.")]);
      const warned: string[] = [];
      const { client } = responding(model, {}, { onWarning: (warnings) => void warned.push(...warnings) });
      const response = await client.post<{ readonly metadata: Readonly<Record<string, string>> }>("/responses", {
        body: { input, ...more },
      });
      expect(response).toMatchObject({ status: "completed" });
      expect(warned.join("\n")).toContain(words);
      expect(response.metadata["colloquy_skipped"]).toContain(words);
      expect(model.calls[0]?.messages.at(0)?.role).toBe("user");
    }
  });
});
