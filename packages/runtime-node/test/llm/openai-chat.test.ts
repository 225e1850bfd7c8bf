import OpenAI from "openai";
import { describe, expect, test, vi } from "vitest";
import { openaiChat } from "../../src/llm/openai.ts";
import { type CallLlm, ConfigurationError } from "@colloquy/machine";
import { z } from "zod";
import { callOf, handlerFor, perform, testClock, outcomeOf } from "./call.ts";
import { answering, answeringJson, begin, chatServer, chunkOf, eventOf } from "./server.ts";

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const partial = { content: "Be" };

const toolsOfBody = z.object({ tools: z.array(z.object({ function: z.object({ name: z.string() }) })).optional() });

describe("a reply", () => {
  test("comes piece by piece, with usage, model and id", async () => {
    const { baseURL } = await chatServer((_, response) => {
      begin(
        response,
        chunkOf({ role: "assistant", content: "" }),
        chunkOf({ content: "Be" }),
        chunkOf({ content: "cause" }),
      );
      response.end([chunkOf({}, "stop"), { choices: [], usage }].map(eventOf).join("") + "data: [DONE]\n\n");
    });
    const { outcome, deltas } = perform(handlerFor(baseURL));
    expect(await outcome).toEqual({
      type: "completed",
      reply: { content: "Because" },
      finishReason: "stop",
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
      model: "model-1",
      responseId: "chat-1",
    });
    expect(deltas).toEqual([
      { type: "text", text: "Be" },
      { type: "text", text: "cause" },
    ]);
  });

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

  test.each([
    ["a stream", true, eventOf(chunkOf({ content: "hi" }, "stop")), {}],
    [
      "a stream under the name of JSON",
      true,
      eventOf(chunkOf({ content: "hi" }, "stop")),
      { "content-type": "application/json" },
    ],
    [
      "a stream that nobody asked for",
      false,
      eventOf(chunkOf({ content: "hi" }, "stop")),
      { "content-type": "text/event-stream" },
    ],
    ["JSON in place of a stream", true, '\n\n{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}', {}],
  ])("is understood as %s", async (_, stream, text, headers) => {
    const { baseURL } = await chatServer(answering(text, 200, headers));
    const { outcome } = perform(openaiChat({ baseURL, apiKey: "k", tools: [], stream }));
    expect(await outcome).toMatchObject({ type: "completed", reply: { content: "hi" }, finishReason: "stop" });
  });

  test("that is streamed unasked is told as it comes", async () => {
    const { baseURL } = await chatServer((_, response) => begin(response, chunkOf({ content: "Be" })));
    const { told, control, outcome } = perform(openaiChat({ baseURL, apiKey: "k", tools: [], stream: false }));
    await told(1);
    control.abort();
    expect(await outcome).toMatchObject({ type: "failed", partial });
  });

  test("counts when the end mark came, whatever the server does then", async () => {
    expect(
      await outcomeOf((_, response) => {
        begin(response, chunkOf({ content: "Be" }, "stop"));
        response.write("data: [DONE]\n\n");
      }),
    ).toMatchObject({ type: "completed", reply: partial });
  });

  test("counts when it said why it ended and the connection breaks then", async () => {
    expect(
      await outcomeOf((_, response) => {
        begin(response, chunkOf({ content: "Be" }, "stop"));
        response.write(": no more\n\n", () => response.destroy());
      }),
    ).toMatchObject({ type: "completed", reply: partial });
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

  test("leaves parameters about calls out if it offers no tools", async () => {
    const { baseURL, bodies } = await chatServer(reply);
    const model = { stream: false, tool_choice: "auto", parallel_tool_calls: false };
    await perform(openaiChat({ baseURL, apiKey: "k", model: "m" }), callOf({ model })).outcome;
    await perform(openaiChat({ baseURL, apiKey: "k", model: "m", tools: [declared] }), callOf({ model })).outcome;
    expect(bodies).toMatchObject([{ model: "m" }, model]);
    expect(Object.keys(bodies[0] ?? {})).toEqual(["stream", "model", "messages"]);
  });

  test("offers exactly the tools of the call, whatever else is declared", async () => {
    const { baseURL, bodies } = await chatServer(reply);
    const handler = openaiChat({ baseURL, apiKey: "k", model: "m", stream: false, tools: [{ name: "g" }, declared] });
    const offering = (...names: readonly string[]): CallLlm =>
      callOf({ tools: names.map((name) => ({ name, digest: "" })) });
    await perform(handler, offering("f", "g")).outcome;
    await perform(handler, offering("g")).outcome;
    await perform(handler, offering()).outcome;
    const offered = bodies.map((body) => toolsOfBody.parse(body).tools?.map((tool) => tool.function.name));
    expect(offered).toEqual([["f", "g"], ["g"], undefined]);
  });

  test("takes the declarations that the host hands over before its own", async () => {
    const { baseURL, bodies } = await chatServer(reply);
    const handler = openaiChat({ baseURL, apiKey: "k", model: "m", stream: false, tools: [{ name: "f" }] });
    const { signal } = new AbortController();
    const context = { signal, onDelta: () => {}, clock: testClock(), tools: [declared] };
    await handler(callOf({ tools: [{ name: "f", digest: "" }] }), context);
    expect(bodies).toMatchObject([{ tools: [{ function: declared }] }]);
  });

  test("is not made where a tool of the call is declared nowhere", async () => {
    const { baseURL, bodies } = await chatServer(reply);
    const handler = openaiChat({ baseURL, apiKey: "k", model: "m", tools: [declared] });
    expect(await perform(handler, callOf({ tools: [{ name: "h", digest: "" }] })).outcome).toMatchObject({
      type: "failed",
      failure: {
        kind: "bad_request",
        retryable: false,
        message: expect.stringContaining('the tool "h", and openaiChat'),
      },
    });
    expect(bodies).toEqual([]);
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

  test("is made once, by the client that is given", async () => {
    const { baseURL, bodies } = await chatServer(answering("", 500));
    const client = new OpenAI({ baseURL, apiKey: "k", maxRetries: 5 });
    expect(await perform(openaiChat({ client, tools: [] })).outcome).toMatchObject({ type: "failed" });
    expect(bodies).toHaveLength(1);
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
