import { describe, expect, test, vi } from "vitest";
import { openaiChat } from "../../src/llm/openai.ts";
import { ConfigurationError } from "@colloquy/machine";
import { callOf, handlerFor, perform, outcomeOf } from "./call.ts";
import { answering, answeringJson, begin, chatServer, chunkOf, eventOf } from "./server.ts";

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const partial = { content: "Be" };

describe("a reply", () => {
  test("comes in one piece, and is told all the same", async () => {
    const toolCall = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
    const message = { role: "assistant", content: "Because", reasoning: "hm", tool_calls: [toolCall] };
    const { baseURL } = await chatServer(
      answeringJson({ id: "x", choices: [{ message, finish_reason: null }], usage }),
    );
    const handler = openaiChat({ baseURL, apiKey: "k", tools: [], stream: false });
    const { outcome, deltas } = perform(handler);
    expect(await outcome).toMatchObject({
      type: "completed",
      reply: { toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
      finishReason: null,
      responseId: "x",
    });
    expect(deltas).toEqual([
      { type: "reasoning", text: "hm" },
      { type: "text", text: "Because" },
      { type: "toolCall", index: 0, id: "a", name: "f", arguments: "{}" },
    ]);
  });

  test("that is streamed unasked is told as it comes", async () => {
    const { baseURL } = await chatServer((_, response) => begin(response, chunkOf({ content: "Be" })));
    const { told, control, outcome } = perform(openaiChat({ baseURL, apiKey: "k", tools: [], stream: false }));
    await told(1);
    control.abort();
    expect(await outcome).toMatchObject({ type: "failed", partial });
  });

  test.each([true, false])(
    "whose text and calls are in choices of their own is one reply (stream: %s)",
    async (stream) => {
      const call = { id: "a", type: "function", function: { name: "f", arguments: "{}" } };
      const choice = (index: number, said: object, finish_reason: string): object =>
        stream ? { index, delta: said, finish_reason } : { index, message: said, finish_reason };
      const choices = [choice(0, { content: "I look." }, "stop"), choice(1, { tool_calls: [call] }, "tool_calls")];
      const answer = stream
        ? answering(eventOf({ choices }), 200, { "content-type": "text/event-stream" })
        : answeringJson({ choices });
      const { baseURL } = await chatServer(answer);
      const { outcome, deltas } = perform(handlerFor(baseURL), callOf({ model: { stream } }));
      expect(await outcome).toMatchObject({
        reply: { content: "I look.", toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
        finishReason: "tool_calls",
      });
      expect(deltas.map(({ type }) => type)).toEqual(["text", "toolCall"].concat(stream ? ["toolCall"] : []));
      const asked = perform(handlerFor(baseURL), callOf({ model: { stream, n: 2 } }));
      expect(await asked.outcome).toMatchObject({ reply: { content: "I look." }, finishReason: "stop" });
    },
  );

  test.each([
    [{ title: "Apples" }, '{"title":"Apples"}'],
    [[1, 2], "[1,2]"],
    [42, "42"],
    [
      ["a", "b"],
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    ],
    [{ type: "text", text: "a" }, "a"],
  ])("whose content is %j is read", async (content, read) => {
    expect(
      await outcomeOf(answeringJson({ choices: [{ message: { content }, finish_reason: "stop" }] })),
    ).toMatchObject({ reply: { content: read } });
  });

  test("with a file that any server can read does not name the server that it came from", async () => {
    const content = [
      { type: "text", text: "Here." },
      { type: "file", file: { file_id: "f1" } },
    ];
    const outcome = await outcomeOf(answeringJson({ choices: [{ message: { content }, finish_reason: "stop" }] }));
    expect(outcome).toMatchObject({ reply: { content: [{ text: "Here." }, { type: "opaque" }] } });
    expect(outcome).not.toHaveProperty("reply.provider");
  });

  test("to several choices is the first", async () => {
    const choice = (index: number): object => ({
      index,
      message: { content: `answer ${index}` },
      finish_reason: "stop",
    });
    expect(await outcomeOf(answeringJson({ choices: [choice(1), choice(0)] }))).toMatchObject({
      reply: { content: "answer 0" },
    });
  });
});

describe("a request", () => {
  const declared = { name: "f", description: "does", parameters: { type: "object", properties: {} } };
  const reply = answeringJson({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] });
  const messages = [{ role: "user", content: "why?" }];

  test("asks for a stream with usage, and adds model and tools", async () => {
    const { baseURL, bodies } = await chatServer(reply);
    const handler = openaiChat({ baseURL, apiKey: "k", model: "m", tools: [declared, { name: "g" }] });
    await perform(handler, callOf({ model: { temperature: 0 } })).outcome;
    expect(bodies).toEqual([
      {
        model: "m",
        temperature: 0,
        stream: true,
        stream_options: { include_usage: true },
        messages,
        tools: [
          { type: "function", function: declared },
          { type: "function", function: { name: "g", parameters: { type: "object", properties: {} } } },
        ],
      },
    ]);
  });

  test.each([
    [
      { model: "n", stream: false },
      { model: "n", stream: false },
    ],
    [
      { stream: true, stream_options: null },
      { model: "m", stream: true },
    ],
    [
      { stream_options: { include_usage: false } },
      { model: "m", stream: true, stream_options: { include_usage: false } },
    ],
    [
      { stream: false, tools: [] },
      { model: "m", stream: false, tools: [] },
    ],
    [
      { stream: false, functions: [declared] },
      { model: "m", stream: false, functions: [declared] },
    ],
  ])("lets the parameters %j have their way", async (model, expected) => {
    const { baseURL, bodies } = await chatServer(reply);
    const tools = "tools" in model || "functions" in model ? [declared] : [];
    await perform(openaiChat({ baseURL, apiKey: "k", model: "m", tools }), callOf({ model })).outcome;
    expect(bodies).toEqual([{ ...expected, messages }]);
  });

  test("for a summary offers no tools, nor says how to call them", async () => {
    const { baseURL, bodies } = await chatServer(reply);
    const model = { stream: false, tool_choice: "required", parallel_tool_calls: false, temperature: 0 };
    const handler = openaiChat({ baseURL, apiKey: "k", model: "m", tools: [declared] });
    await perform(handler, callOf({ purpose: "summary", model: { ...model, tools: [] } })).outcome;
    await perform(handler, callOf({ purpose: "summary", model: { ...model, functions: [declared] } })).outcome;
    const body = { model: "m", stream: false, temperature: 0, messages };
    expect(bodies).toEqual([body, body]);
  });

  test("is the same, whatever becomes of the options that the handler was made with", async () => {
    const teams: unknown[] = [];
    const { baseURL, bodies } = await chatServer((request, ...rest) => {
      teams.push(request.headers["x-team"]);
      reply(request, ...rest);
    });
    const tools = [{ ...declared }];
    const options = { baseURL, apiKey: "k", model: "m", stream: false, tools, defaultHeaders: { "x-team": "ours" } };
    const handler = openaiChat(options);
    Object.assign(tools[0] ?? {}, { description: "does something else" });
    tools.push({ ...declared, name: "g" });
    Object.assign(options, { model: "n", stream: true });
    options.defaultHeaders["x-team"] = "theirs";
    await perform(handler).outcome;
    expect(bodies).toEqual([{ model: "m", messages, tools: [{ type: "function", function: declared }] }]);
    expect(teams).toEqual(["ours"]);
  });

  test("without a key fails, naming the variable, until there is one", async () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    const message = expect.stringContaining("openaiChat has no key: set OPENAI_API_KEY, or give apiKey");
    const noKey = { type: "failed", failure: { kind: "auth", message, retryable: false } };
    const sent: unknown[] = [];
    const answering: typeof fetch = async (_, init) => {
      sent.push(new Headers(init?.headers).get("authorization"));
      return new Response("no", { status: 400 });
    };
    const handler = openaiChat({ model: "m", fetch: answering });
    expect(() => handler.check?.()).toThrow(ConfigurationError);
    expect(await perform(handler).outcome).toMatchObject(noKey);
    for (const empty of ["", " "]) {
      vi.stubEnv("OPENAI_API_KEY", empty);
      expect(await perform(handler).outcome).toMatchObject(noKey);
    }
    vi.stubEnv("OPENAI_API_KEY", "of-the-environment");
    expect(await perform(openaiChat({ apiKey: "" })).outcome).toMatchObject(noKey);
    handler.check?.();
    await perform(handler).outcome;
    expect(sent).toEqual(["Bearer of-the-environment"]);
    vi.unstubAllEnvs();
  });

  test("is made without a key for a server of one's own", async () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    const sent: unknown[] = [];
    const { baseURL } = await chatServer((request, ...rest) => {
      sent.push(request.headers.authorization);
      reply(request, ...rest);
    });
    for (const given of [{}, { apiKey: "" }]) await perform(openaiChat({ baseURL, ...given })).outcome;
    expect(sent).toEqual(["Bearer none", "Bearer none"]);
    vi.unstubAllEnvs();
  });

  test("has the key and the server that the environment named at the first call", async () => {
    const sent: unknown[] = [];
    const { baseURL } = await chatServer((request, ...rest) => {
      sent.push(request.headers.authorization);
      reply(request, ...rest);
    });
    const handler = openaiChat({ model: "m" });
    vi.stubEnv("OPENAI_API_KEY", " first ");
    vi.stubEnv("OPENAI_BASE_URL", baseURL);
    expect(await perform(handler).outcome).toMatchObject({ type: "completed" });
    vi.stubEnv("OPENAI_API_KEY", "second");
    vi.stubEnv("OPENAI_BASE_URL", "http://127.0.0.1:1");
    expect(await perform(handler).outcome).toMatchObject({ type: "completed" });
    expect(sent).toEqual(["Bearer first", "Bearer first"]);
    vi.unstubAllEnvs();
  });
});
