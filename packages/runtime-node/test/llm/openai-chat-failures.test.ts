import { describe, expect, test } from "vitest";
import { openaiChat } from "../../src/llm/openai.ts";
import { outcomeOf, perform } from "./call.ts";
import { answering, begin, chatServer, chunkOf, eventOf } from "./server.ts";

const partial = { content: "Be" };

test("a stream that comes as a plain body fails if it ends without a reason, and is an answer with one", async () => {
  const said = eventOf(chunkOf({ content: "Be" }));
  const outcomes = [said, said + eventOf(chunkOf({}, "stop"))].map(async (text) => {
    const { baseURL } = await chatServer(answering(text, 200, { "content-type": "application/json" }));
    return perform(openaiChat({ baseURL, apiKey: "k", tools: [], stream: false })).outcome;
  });
  expect(await Promise.all(outcomes)).toMatchObject([
    { type: "failed", failure: { kind: "truncated", retryable: true }, partial },
    { type: "completed", reply: partial, finishReason: "stop" },
  ]);
});

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
    [
      "no text, for the reason that there was an error",
      '{"choices":[{"message":{"content":""},"finish_reason":"error"}]}',
      "unknown",
      true,
    ],
    [
      "no text, for the reason that there was an error which it tells",
      '{"choices":[{"message":{"content":""},"finish_reason":"error","error":{"message":"slow","code":429}}]}',
      "rate_limit",
      true,
    ],
    ["an error under names of its own", '{"code":429,"msg":"slow"}', "rate_limit", true],
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
    ["for the reason that there was an error", [chunkOf({ content: "Be" }, "error")], "data: [DONE]\n\n", "unknown"],
    [
      "with an error event that has but a message",
      [chunkOf({ content: "Be" })],
      'event: error\ndata: {"message":"Overloaded"}\n\n',
      "overloaded",
    ],
    [
      "with an error",
      [chunkOf({ content: "Be" })],
      eventOf({ error: { message: "Overloaded", type: "overloaded_error" } }),
      "overloaded",
    ],
  ])("a stream that ends %s is a failure with what had come", async (_, events, rest, kind) => {
    expect(
      await outcomeOf((_request, response) => {
        begin(response, ...events);
        response.end(rest);
      }),
    ).toMatchObject({
      type: "failed",
      failure: { kind, retryable: true },
      partial,
    });
  });
});

describe("an error response", () => {
  test.each([
    ["<html><title>502 Bad Gateway</title></html>", 502, "unknown", /502 Bad Gateway/],
    ["upstream connect error", 503, "overloaded", /upstream connect error/],
    ["", 500, "unknown", /status 500/],
    ['{"detail":"Not found"}', 404, "bad_request", /^Not found; check the base URL$/],
    [
      '{"detail":[{"loc":["body","messages",0],"msg":"Field required"},{"msg":"Too long"},{}]}',
      422,
      "bad_request",
      /^body.messages.0: Field required; Too long$/,
    ],
    ['[{"error":{"message":"slow","status":"RESOURCE_EXHAUSTED"}}]', 429, "rate_limit", /^slow$/],
  ])("of the body %j is read", async (text, status, kind, message) => {
    expect(await outcomeOf(answering(text, status, {}))).toMatchObject({
      failure: { kind, status, message: expect.stringMatching(message) },
    });
  });
});
