import { describe, expect, it } from "vitest";
import {
  fails,
  never,
  reply,
  type ScriptLine,
  scriptedModel,
  streams,
  toolCalls,
  viewPrompt,
} from "../../src/models/index.ts";
import { virtualClock } from "../../src/ports/virtual-clock.ts";
import { eventsOf, post, question, readUntilCut, serverFor } from "./client.ts";

const usage = { inputTokens: 10, outputTokens: 3, cacheReadTokens: 4, reasoningTokens: 1 };
const wireUsage = {
  prompt_tokens: 10,
  completion_tokens: 3,
  total_tokens: 13,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 1 },
};

const answering = (...lines: readonly ScriptLine[]): { readonly model: ReturnType<typeof scriptedModel> } => ({
  model: scriptedModel(lines),
});

describe("a plain answer", () => {
  it("is a chat completion with counted id, time of the clock, and usage", async () => {
    const clock = virtualClock(1_700_000_000_999);
    const server = await serverFor({ ...answering(reply("Sunny.", { usage })), clock });
    const response = await post(server, question("Weather?"));
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("x-request-id")).toBe("req_1");
    expect(await response.json()).toEqual({
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1_700_000_000,
      model: "test",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Sunny.", refusal: null },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: wireUsage,
    });
  });

  it("carries tool calls, refusals and reasoning, and says nothing of a usage that is not known", async () => {
    const server = await serverFor(
      answering(
        toolCalls([{ name: "get_weather", arguments: { city: "Oslo" }, id: "call_a" }], { model: "gpt-test" }),
        streams([{ refusal: "No." }], { finishReason: "content_filter" }),
        streams([{ reasoning: "Hm." }, "Yes."], { finishReason: null, responseId: "r1" }),
      ),
    );
    const bodies: unknown[] = [];
    for (let call = 0; call < 3; call++) bodies.push(await (await post(server, question("Weather?"))).json());
    expect(bodies).toMatchObject([
      {
        model: "gpt-test",
        choices: [
          {
            message: {
              content: null,
              tool_calls: [
                { id: "call_a", type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } },
              ],
            },
            finish_reason: "tool_calls",
          },
        ],
      },
      { choices: [{ message: { content: null, refusal: "No." }, finish_reason: "content_filter" }] },
      { id: "r1", choices: [{ message: { content: "Yes.", reasoning_content: "Hm." }, finish_reason: null }] },
    ]);
    expect(bodies.every((body) => typeof body === "object" && body !== null && !("usage" in body))).toBe(true);
  });
});

describe("a streamed answer", () => {
  it("comes in chunks, with usage in one of its own only if it was asked for", async () => {
    const server = await serverFor(answering(reply("It is sunny.", { usage }), reply("Yes.", { usage })));
    const asked = await post(server, question("Weather?", { stream: true, stream_options: { include_usage: true } }));
    expect(asked.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    const chunk = (delta: object, finish_reason: string | null = null): object => ({
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1_767_225_600,
      model: "test",
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      usage: null,
    });
    expect(await eventsOf(asked)).toEqual([
      chunk({ role: "assistant", content: "", refusal: null }),
      chunk({ content: "It " }),
      chunk({ content: "is " }),
      chunk({ content: "sunny." }),
      chunk({}, "stop"),
      { ...chunk({}), choices: [], usage: wireUsage },
      "[DONE]",
    ]);
    expect(await (await post(server, question("Really?", { stream: true }))).text()).not.toContain("usage");
  });

  it("opens each tool call once, by its index, and sends its arguments in pieces", async () => {
    const calls = [
      { name: "get_weather", arguments: { city: "Reykjavík 🌨🌨🌨" }, id: "call_a" },
      { name: "get_weather", arguments: "", id: null },
    ];
    const server = await serverFor(answering(toolCalls(calls, { content: "Wait." })));
    const events = await eventsOf(await post(server, question("Weather?", { stream: true })));
    const deltas = events.flatMap((event) => deltasOf(event));
    expect(deltas[0]).toEqual({
      index: 0,
      id: "call_a",
      type: "function",
      function: { name: "get_weather", arguments: "" },
    });
    expect(deltas.at(-1)).toEqual({ index: 1, type: "function", function: { name: "get_weather", arguments: "" } });
    const pieces = deltas.slice(1, -1).map((delta) => delta.function.arguments);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
    expect(pieces.join("")).toBe('{"city":"Reykjavík 🌨🌨🌨"}');
    expect(events.at(-2)).toMatchObject({ choices: [{ delta: {}, finish_reason: "tool_calls" }] });
  });

  it("carries a thousand deltas, one event each", async () => {
    const deltas = Array.from({ length: 1000 }, (_, index) => `${index} `);
    const server = await serverFor(answering(reply(deltas.join(""), { deltas })));
    const events = await eventsOf(await post(server, question("Count!", { stream: true })));
    expect(events).toHaveLength(1000 + 3);
  });
});

describe("a failure of the model", () => {
  it("is the response that would have caused it", async () => {
    const server = await serverFor(
      answering(
        fails({ kind: "rate_limit", message: "slow down", retryAfterMs: 1500 }),
        fails({ kind: "context_length", message: "too long" }),
        fails({ kind: "overloaded", status: 529, code: "busy" }),
      ),
    );
    const limited = await post(server, question("Weather?"));
    expect(limited.status).toBe(429);
    expect(limited.headers.get("retry-after-ms")).toBe("1500");
    expect(limited.headers.get("retry-after")).toBe("2");
    expect(await limited.json()).toEqual({
      error: { message: "slow down", type: "requests", param: null, code: "rate_limit_exceeded" },
    });
    const long = await post(server, question("Weather?", { stream: true }));
    expect([long.status, long.headers.get("x-should-retry")]).toEqual([400, "false"]);
    expect(await long.json()).toMatchObject({ error: { code: "context_length_exceeded" } });
    const busy = await post(server, question("Weather?"));
    expect([busy.status, await busy.json()]).toMatchObject([529, { error: { code: "busy" } }]);
  });

  it("stands among the events when the stream had begun, and breaks it off where a connection failed", async () => {
    const server = await serverFor(
      answering(
        fails({ kind: "overloaded", message: "gone" }, { partial: "It is" }),
        fails({ kind: "truncated" }, { partial: "It is" }),
        fails({ kind: "network" }, { partial: "It is" }),
      ),
    );
    const streamed = question("Weather?", { stream: true });
    const events = await eventsOf(await post(server, streamed));
    expect(events.at(-1)).toMatchObject({ error: { message: "gone", type: "server_error" } });
    const truncated = await (await post(server, streamed)).text();
    expect(truncated).toMatch(/{"content":"is"}.*\n\n$/);
    expect(truncated).not.toContain("[DONE]");
    expect(truncated).not.toContain('"finish_reason":"');
    const cut = await readUntilCut(await post(server, streamed));
    expect(cut.text).toBe(truncated.replaceAll("chatcmpl-2", "chatcmpl-3"));
    expect(String(cut.error)).toBe("TypeError: terminated");
  });

  it("breaks off a plain answer, or leaves it out", async () => {
    const server = await serverFor(answering(fails({ kind: "truncated" }), fails({ kind: "network" })));
    const truncated = await post(server, question("Weather?"));
    expect(truncated.status).toBe(200);
    await expect(truncated.json()).rejects.toThrow(SyntaxError);
    await expect(post(server, question("Weather?"))).rejects.toThrow("fetch failed");
  });
});

describe("the model", () => {
  it("is called with the messages and the parameters that were sent", async () => {
    const { model } = answering(reply("Sunny."));
    const server = await serverFor({ model });
    const tools = [{ type: "function", function: { name: "get_weather", parameters: { type: "object" } } }];
    await post(server, {
      model: "gpt-test",
      temperature: 0.5,
      tools,
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Oslo and " },
            { type: "text", text: "Rome?" },
          ],
        },
        {
          role: "assistant",
          content: null,
          tool_calls: ["a", "b"].map((id) => ({
            id,
            type: "function",
            function: { name: "get_weather", arguments: "{}" },
          })),
        },
        { role: "tool", tool_call_id: "b", content: "rain" },
        { role: "tool", tool_call_id: "a", content: "snow" },
        { role: "assistant", content: "Snow and rain." },
        { role: "user", content: "And tomorrow?" },
      ],
    });
    const [call] = model.calls;
    expect(call?.model).toEqual({ model: "gpt-test", temperature: 0.5, tools });
    const view = viewPrompt(call?.messages ?? []);
    expect(view.messages.map(({ role, text }) => `${role}: ${text}`)).toEqual([
      "system: Be brief.",
      "user: Oslo and Rome?",
      "assistant: ",
      "tool: snow",
      "tool: rain",
      "assistant: Snow and rain.",
      "user: And tomorrow?",
    ]);
  });

  it("is told when its client goes away", async () => {
    const cancelled = Promise.withResolvers<string>();
    const called = Promise.withResolvers<void>();
    const server = await serverFor({
      model: async (call, context) => {
        context.signal.addEventListener("abort", () => cancelled.resolve(String(context.signal.reason)));
        called.resolve();
        return scriptedModel([never({ pieces: ["It is"] })])(call, context);
      },
    });
    const client = new AbortController();
    const response = post(server, question("Weather?", { stream: true }), { signal: client.signal });
    await called.promise;
    await response;
    client.abort();
    expect(await cancelled.promise).toBe("Error: the client went away");
  });
});

describe("the server", () => {
  it("lists its models, and knows no others when it was given a list", async () => {
    const server = await serverFor({ ...answering(reply("Sunny.")), models: ["small", "large"] });
    const list = await fetch(`${server.url}/models`);
    expect(await list.json()).toEqual({
      object: "list",
      data: ["small", "large"].map((id) => ({ id, object: "model", created: 1_767_225_600, owned_by: "loopback" })),
    });
    const unknown = await post(server, question("Weather?"));
    expect([unknown.status, await unknown.json()]).toMatchObject([404, { error: { code: "model_not_found" } }]);
    expect((await post(server, question("Weather?", { model: "large" }))).status).toBe(200);
  });

  it("answers without /v1 as well, and nothing else anywhere", async () => {
    const server = await serverFor(answering(reply("Sunny.")));
    expect((await post(server, question("Weather?"), { path: "/chat/completions?x=1" })).status).toBe(200);
    const missing = await post(server, question("Weather?"), { path: "/v1/embeddings" });
    expect([missing.status, await missing.json()]).toEqual([
      404,
      {
        error: {
          message: "Invalid URL (POST /v1/embeddings)",
          type: "invalid_request_error",
          param: null,
          code: null,
        },
      },
    ]);
    const wrong = await fetch(`${server.url}/chat/completions`);
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "POST"]);
    const alsoWrong = await post(server, "{}", { path: "/v1/models" });
    expect([alsoWrong.status, alsoWrong.headers.get("allow")]).toEqual([405, "GET"]);
  });

  it("answers under further paths, as they say", async () => {
    const lines = [reply("Sunny."), reply("Rain."), reply("Snow.")];
    const server = await serverFor({ ...answering(...lines), paths: { "/generate": "/chat/completions" } });
    for (const path of ["/v1/generate", "/generate", "/v1/chat/completions"])
      expect((await post(server, question("Weather?"), { path })).status).toBe(200);
    expect((await post(server, question("Weather?"), { path: "/v1/generate/more" })).status).toBe(404);
  });

  it("wants its key, and keeps what was sent as one to itself", async () => {
    const server = await serverFor({ ...answering(reply("Sunny.")), apiKey: "sk-right" });
    const wrong = await post(server, question("Weather?"), { headers: { authorization: "Bearer sk-wrong" } });
    expect([wrong.status, await wrong.json()]).toMatchObject([401, { error: { code: "invalid_api_key" } }]);
    expect((await post(server, question("Weather?"))).status).toBe(401);
    const right = await post(server, question("Weather?"), { headers: { authorization: "Bearer sk-right" } });
    expect(right.status).toBe(200);
    expect(server.requests.map(({ number, method, path }) => [number, method, path])).toEqual(
      [1, 2, 3].map((number) => [number, "POST", "/v1/chat/completions"]),
    );
    expect(server.requests[2]?.body).toEqual(question("Weather?"));
    expect(server.requests[2]?.headers["authorization"]).toBe("[withheld]");
    expect(JSON.stringify(server.requests)).not.toMatch(/sk-/);
  });

  it("ends what is open when it is closed", async () => {
    const server = await serverFor(answering(never({ pieces: ["It is"] }), never()));
    const begun = await post(server, question("Weather?", { stream: true }));
    const waiting = post(server, question("Weather?"));
    waiting.catch(() => undefined);
    await server.close();
    await expect(begun.text()).rejects.toThrow("terminated");
    await expect(waiting).rejects.toThrow("fetch failed");
    await expect(post(server, question("Weather?"))).rejects.toThrow("fetch failed");
  });

  it("says when its port is taken", async () => {
    const { port } = await serverFor(answering());
    await expect(serverFor({ ...answering(), port })).rejects.toThrow("EADDRINUSE");
  });
});

interface CallDelta {
  readonly function: { readonly arguments: string };
}

const deltasOf = (event: unknown): readonly CallDelta[] => {
  // This server writes such chunks; anything else fails the test.
  const chunk = event as {
    readonly choices?: readonly { readonly delta: { readonly tool_calls?: readonly CallDelta[] } }[];
  };
  return chunk.choices?.[0]?.delta.tool_calls ?? [];
};
