import { getEventListeners, once } from "node:events";
import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { openaiChat } from "../../src/handlers/llm/openai-chat.ts";
import { callOf, handlerFor, perform, testClock } from "./call.ts";
import { answering, answeringJson, begin, chatServer, chunkOf, eventOf } from "./server.ts";

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const partial = { content: "Be" };

describe("what is no reply", () => {
  test.each([
    ["nothing", "", "truncated", true],
    ["half a line", '{"choices":[{"mess', "truncated", true],
    ["a page", "<!DOCTYPE html><html>Sign in</html>", "unknown", false],
    ["JSON of something else", '"hello"', "unknown", true],
    ["no choices", '{"choices":[]}', "unknown", true],
    ["an error", '{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}', "rate_limit", true],
    [
      "an error beside an empty choice",
      '{"choices":[{"message":{}}],"error":{"message":"no","code":502}}',
      "unknown",
      true,
    ],
    ["an error without its envelope", '{"detail":"Too many tokens: the prompt is too long"}', "context_length", false],
    [
      "a list of an error",
      '[{"error":{"code":429,"message":"slow","status":"RESOURCE_EXHAUSTED"}}]',
      "rate_limit",
      true,
    ],
  ])("%s, plain and as a stream, is a failure", async (_, text, kind, retryable) => {
    for (const stream of [false, true]) {
      const { baseURL } = await chatServer(answering(text, 200, stream ? { "content-type": "text/event-stream" } : {}));
      const { outcome } = perform(openaiChat({ baseURL, apiKey: "k", tools: [], stream }));
      expect(await outcome).toMatchObject({ type: "failed", failure: { kind, retryable } });
    }
  });

  test.each([
    ["without a reason", [chunkOf({ content: "Be" })], "", "truncated"],
    ["without a reason, but with the end mark", [chunkOf({ content: "Be" })], "data: [DONE]\n\n", "truncated"],
    ["in the middle of a line", [chunkOf({ content: "Be" })], 'data: {"choices":[{"del', "truncated"],
    [
      "after a piece that can't be read",
      [chunkOf({ content: "Be" })],
      `data: {"cho\n\n${eventOf(chunkOf({}, "stop"))}`,
      "truncated",
    ],
    [
      "with an error",
      [chunkOf({ content: "Be" })],
      eventOf({ error: { message: "Overloaded", type: "overloaded_error" } }),
      "overloaded",
    ],
  ])("a stream that ends %s is a failure with what had come", async (_, events, rest, kind) => {
    const { baseURL } = await chatServer((_request, response) => {
      begin(response, ...events);
      response.end(rest);
    });
    expect(await perform(handlerFor(baseURL)).outcome).toMatchObject({
      type: "failed",
      failure: { kind, retryable: true },
      partial,
    });
  });

  test("keeps neither calls nor provider fields of what had come, and says what it cost", async () => {
    const { baseURL } = await chatServer((_, response) => {
      const call = { index: 0, id: "a", function: { name: "f", arguments: "{" } };
      const details = [{ type: "reasoning.encrypted", data: "A" }];
      begin(
        response,
        chunkOf({ content: "Be", reasoning_content: "", tool_calls: [call], reasoning_details: details }),
      );
      response.end(eventOf({ choices: [], usage }));
    });
    expect(await perform(handlerFor(baseURL)).outcome).toEqual({
      type: "failed",
      failure: { kind: "truncated", retryable: true, message: "the stream ended without saying why" },
      partial,
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    });
  });
});

describe("a connection", () => {
  test("that is refused, or cut, is a network failure", async () => {
    const gone = await chatServer((request) => request.socket.destroy());
    expect(await perform(handlerFor("http://127.0.0.1:1/v1")).outcome).toMatchObject({
      failure: { kind: "network", retryable: true },
    });
    expect(await perform(handlerFor(gone.baseURL)).outcome).toMatchObject({
      failure: { kind: "network", retryable: true },
    });
    for (const headers of [{ "content-type": "text/event-stream" }, { "content-type": "application/json" }]) {
      const { baseURL } = await chatServer((_, response) => {
        response.writeHead(200, headers);
        response.write(eventOf(chunkOf({ content: "Be" })), () => response.destroy());
      });
      expect(await perform(handlerFor(baseURL)).outcome).toMatchObject({
        failure: { kind: "network", retryable: true },
      });
    }
  });

  test("that falls silent for longer than is allowed is a timeout, with what had come", async () => {
    let response: ServerResponse | undefined;
    const { baseURL } = await chatServer((_, opened) => {
      response = opened;
      begin(opened, chunkOf({ content: "B" }));
    });
    const { outcome, told, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
    await told(1);
    clock.advance(600);
    response?.write(eventOf(chunkOf({ content: "e" })));
    await told(2);
    clock.advance(600);
    response?.write(eventOf(chunkOf({ reasoning: "hm" })));
    await told(3);
    clock.advance(1000);
    expect(await outcome).toMatchObject({
      type: "failed",
      failure: { kind: "timeout", retryable: true },
      partial: { content: [{ text: "hm" }, { text: "Be" }] },
    });
    expect(clock.waiting()).toBe(0);
  });

  test.each(["event-stream", "json"])("that never answers, or only with headers (%s), is a timeout", async (type) => {
    for (const answers of [false, true]) {
      const arrived = Promise.withResolvers<void>();
      const { baseURL } = await chatServer((_, response) => {
        if (answers) response.writeHead(200, { "content-type": type }).flushHeaders();
        arrived.resolve();
      });
      const { outcome, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
      await arrived.promise;
      clock.advance(1000);
      expect(await outcome).toMatchObject({ type: "failed", failure: { kind: "timeout" } });
      expect(clock.waiting()).toBe(0);
    }
  });

  test("of an answer that had ended may fall silent", async () => {
    const { baseURL } = await chatServer((_, response) => begin(response, chunkOf({ content: "Be" }, "stop")));
    const { outcome, told, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
    await told(1);
    clock.advance(1000);
    expect(await outcome).toMatchObject({ type: "completed", reply: partial });
  });

  test("is closed on abort, and nothing keeps listening", async () => {
    const closed = Promise.withResolvers<void>();
    const { baseURL } = await chatServer((_, response) => {
      void once(response, "close").then(() => closed.resolve());
      begin(response, chunkOf({ content: "Be" }));
    });
    const { outcome, told, control, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
    await told(1);
    expect(getEventListeners(control.signal, "abort")).toHaveLength(1);
    control.abort();
    expect(await outcome).toMatchObject({ type: "failed", failure: { code: "aborted", retryable: false }, partial });
    await closed.promise;
    expect(getEventListeners(control.signal, "abort")).toHaveLength(0);
    expect(clock.waiting()).toBe(0);
  });

  test("is not made when nobody wants the answer any more", async () => {
    const { baseURL, bodies } = await chatServer(answeringJson({}));
    const outcome = await handlerFor(baseURL)(callOf(), {
      signal: AbortSignal.abort(),
      onDelta: () => {},
      clock: testClock(),
    });
    expect(outcome).toMatchObject({ type: "failed", failure: { code: "aborted" } });
    expect(bodies).toHaveLength(0);
  });

  test("leaves no listener behind when all went well", async () => {
    const { baseURL } = await chatServer(
      answeringJson({ choices: [{ message: { content: "ok" }, finish_reason: "stop" }] }),
    );
    const { outcome, control, clock } = perform(handlerFor(baseURL), callOf({ idleTimeoutMs: 1000 }));
    await outcome;
    expect(getEventListeners(control.signal, "abort")).toHaveLength(0);
    expect(clock.waiting()).toBe(0);
  });
});

describe("an error response", () => {
  test.each([
    [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "0.5" }, 500],
    [{ "retry-after": "Sat, 21 Nov 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Fri, 20 Nov 2026 00:00:00 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined],
  ])("with %j says to wait %s ms", async (headers, expected) => {
    const { baseURL } = await chatServer(answeringJson({ error: { message: "slow down" } }, 429, headers));
    const clock = testClock(Date.UTC(2026, 10, 21));
    const outcome = await perform(handlerFor(baseURL), callOf(), clock).outcome;
    expect(outcome).toMatchObject({ type: "failed", failure: { kind: "rate_limit", retryable: true, status: 429 } });
    expect(outcome.type === "failed" ? outcome.failure.retryAfterMs : null).toBe(expected);
  });

  test("never repeats a key", async () => {
    const { baseURL } = await chatServer((request, response) => {
      const key = String(request.headers.authorization).replace("Bearer ", "");
      response.writeHead(401, { "content-type": "application/json" }).end(
        JSON.stringify({
          error: { message: `Incorrect API key provided: ${key}. Or is it ${key}?`, code: "invalid_api_key" },
        }),
      );
    });
    for (const key of ["sk-proj-abcdefghijklmnop", "plain-secret"]) {
      const outcome = await perform(openaiChat({ baseURL, apiKey: key, tools: [] })).outcome;
      expect(outcome).toMatchObject({
        failure: { kind: "auth", retryable: false, status: 401, code: "invalid_api_key" },
      });
      expect(JSON.stringify(outcome)).not.toContain(key);
    }
  });

  test.each([
    ["<html><title>502 Bad Gateway</title></html>", 502, "unknown", /502 Bad Gateway/],
    ["upstream connect error", 503, "overloaded", /upstream connect error/],
    ["", 500, "unknown", /status 500/],
    ['{"detail":"Not found"}', 404, "bad_request", /^Not found$/],
    ['[{"error":{"message":"slow","status":"RESOURCE_EXHAUSTED"}}]', 429, "rate_limit", /^slow$/],
  ])("of the body %j is read", async (text, status, kind, message) => {
    const { baseURL } = await chatServer(answering(text, status, {}));
    expect(await perform(handlerFor(baseURL)).outcome).toMatchObject({
      failure: { kind, status, message: expect.stringMatching(message) },
    });
  });
});
