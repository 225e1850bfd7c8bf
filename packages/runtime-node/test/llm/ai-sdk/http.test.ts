import { createOpenAI } from "@ai-sdk/openai";
import { describe, expect, test } from "vitest";
import { aiSdkModel } from "../../../src/llm/ai-sdk/index.ts";
import { callOf, perform } from "../call.ts";
import { type Answer, answering, answeringJson, begin, chatServer, chunkOf } from "../server.ts";
import { ask } from "./mock.ts";

const key = "sk-test-key-0123456789";

/** Makes a handler with the AI SDK's own OpenAI client, for a server on this machine. */
const handlerOf = async (answer: Answer, fetch?: typeof globalThis.fetch) => {
  const { baseURL } = await chatServer(answer);
  const openai = createOpenAI({ baseURL, apiKey: key, ...(fetch === undefined ? {} : { fetch }) });
  return aiSdkModel(openai.chat("model-1"));
};

describe("a server", () => {
  test("that refuses says when to come back, and its echo of the key stands nowhere", async () => {
    const error = { error: { message: `Slow down, ${key}`, type: "requests", code: "rate_limit_exceeded" } };
    const { outcome } = await ask(await handlerOf(answeringJson(error, 429, { "retry-after": "3" })));
    expect(outcome).toMatchObject({
      type: "failed",
      failure: { kind: "rate_limit", retryable: true, status: 429, retryAfterMs: 3000 },
    });
    expect(JSON.stringify(outcome)).not.toContain(key);
  });

  test("that breaks off in the middle is cut, with what had come", async () => {
    const handler = await handlerOf((_, response) => {
      begin(response, chunkOf({ role: "assistant", content: "Sun" }));
      response.end();
    });
    const { outcome } = await ask(handler);
    expect(outcome).toMatchObject({
      type: "failed",
      failure: { kind: "truncated", retryable: true },
      partial: { content: [{ type: "text", text: "Sun" }] },
    });
  });

  test("whose connection breaks is a failure of the network", async () => {
    const handler = await handlerOf((_, response) => {
      begin(response, chunkOf({ role: "assistant", content: "Sun" }));
      setImmediate(() => response.destroy());
    });
    const { outcome } = await ask(handler);
    expect(outcome).toMatchObject({ type: "failed", failure: { kind: "network", retryable: true } });
  });

  test("learns that the call was cancelled", async () => {
    const closed = Promise.withResolvers<void>();
    const handler = await handlerOf((_, response) => {
      response.on("close", () => closed.resolve());
      begin(response, chunkOf({ role: "assistant", content: "Sun" }));
    });
    const call = perform(handler, callOf({ idleTimeoutMs: 1000 }));
    await call.told(1);
    call.control.abort();
    expect(await call.outcome).toMatchObject({ failure: { code: "aborted" } });
    await closed.promise;
  });

  test("that redirects is not followed by a fetch that follows none", async () => {
    const manual: typeof globalThis.fetch = (input, init) => fetch(input, { ...init, redirect: "manual" });
    const handler = await handlerOf(answering("", 307, { location: "http://elsewhere.example/v1" }), manual);
    expect((await ask(handler)).outcome).toMatchObject({
      type: "failed",
      failure: { retryable: false, status: 307, message: expect.stringContaining("elsewhere.example") },
    });
  });
});
