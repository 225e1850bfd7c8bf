import { APICallError, LoadAPIKeyError, NoSuchModelError } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import type { LlmDelta, LlmOutcome } from "@colloquy/host";
import { describe, expect, onTestFinished, test } from "vitest";
import { aiSdkModel } from "../../../src/llm/ai-sdk/index.ts";
import { callOf, perform, testClock } from "../call.ts";
import { ask, finish, modelOf, type Piece, text } from "./mock.ts";

/** Makes a model that throws this; a provider may throw anything. */
const throwing = (error: unknown): MockLanguageModelV4 =>
  new MockLanguageModelV4({
    doStream: () => {
      throw error;
    },
  });

const failureOf = async (model: MockLanguageModelV4) => {
  const { outcome } = await ask(aiSdkModel(model));
  return outcome.type === "failed" ? outcome.failure : outcome;
};

const apiError = (fields: Partial<ConstructorParameters<typeof APICallError>[0]>): APICallError =>
  new APICallError({
    message: "Refused",
    url: "http://localhost/",
    requestBodyValues: { prompt: "my words" },
    ...fields,
  });

describe("an error", () => {
  test("of a response is judged by its status, its body and its headers", async () => {
    const limited = apiError({
      statusCode: 429,
      responseHeaders: { "retry-after": "7" },
      responseBody: '{"error":{"type":"rate_limit_error","message":"Slow down"}}',
    });
    expect(await failureOf(throwing(limited))).toEqual({
      kind: "rate_limit",
      retryable: true,
      retryAfterMs: 7000,
      status: 429,
      code: "rate_limit_error",
      message: "Slow down",
    });
    const others: readonly [Partial<ConstructorParameters<typeof APICallError>[0]>, object][] = [
      [
        { statusCode: 529, responseBody: '{"error":{"type":"overloaded_error"}}' },
        { kind: "overloaded", retryable: true },
      ],
      [{ statusCode: 401 }, { kind: "auth", retryable: false, message: "Refused" }],
      [
        { statusCode: 400, responseBody: "prompt is too long" },
        { kind: "context_length", retryable: false },
      ],
      [
        { statusCode: 307, responseHeaders: { location: "http://elsewhere/x" } },
        { message: expect.stringContaining("http://elsewhere/x"), retryable: false },
      ],
      [
        { statusCode: 200, responseBody: "<html>" },
        { message: expect.stringContaining("page"), retryable: false },
      ],
      [
        { isRetryable: true, cause: new Error("connect ECONNREFUSED") },
        { kind: "network", retryable: true, message: "connect ECONNREFUSED" },
      ],
      [
        { isRetryable: false, cause: new Error("odd") },
        { kind: "unknown", retryable: false, message: "odd" },
      ],
      [
        { isRetryable: true, cause: new TypeError("terminated") },
        { kind: "network", message: expect.stringContaining("the connection failed") },
      ],
      [{ statusCode: 300 }, { status: 300, message: expect.stringContaining("redirects") }],
      [{ statusCode: 299, responseBody: "x" }, { message: "the server's answer holds no reply: x" }],
      [{ statusCode: 200, responseBody: "x" }, { message: "the server's answer holds no reply: x" }],
      [{ statusCode: 200, responseBody: "" }, { message: "Refused" }],
      [{ statusCode: 199, responseBody: "x" }, { message: "Refused" }],
      [{ statusCode: 503, responseHeaders: { "x-a": "1", "Retry-After": "7" } }, { retryAfterMs: 7000 }],
      [{ statusCode: 400, responseBody: "", data: { error: { message: "of data" } } }, { message: "of data" }],
      [{ statusCode: 400, responseBody: "text", data: { error: { message: "of data" } } }, { message: "text" }],
      [
        { statusCode: 400, data: null },
        { kind: "bad_request", message: "Refused" },
      ],
      [
        { data: { error: { message: "in a stream", type: "overloaded_error" } } },
        { kind: "overloaded", message: "in a stream" },
      ],
    ];
    for (const [fields, failure] of others) expect(await failureOf(throwing(apiError(fields)))).toMatchObject(failure);
  });

  test("without a response goes by its name", async () => {
    const named = [
      new LoadAPIKeyError({ message: "no key" }),
      new NoSuchModelError({ modelId: "m", modelType: "languageModel" }),
    ];
    const failures = await Promise.all(named.map((error) => failureOf(throwing(error))));
    expect(failures).toMatchObject([
      { kind: "auth", retryable: false, message: "no key" },
      { kind: "bad_request", retryable: false },
    ]);
  });

  test.each([
    ["AI_LoadSettingError", "auth", false],
    ["AI_NoSuchProviderError", "bad_request", false],
    ["AI_UnsupportedFunctionalityError", "bad_request", false],
    ["AI_InvalidPromptError", "bad_request", false],
    ["AI_DownloadError", "bad_request", false],
    ["AI_EmptyResponseBodyError", "truncated", true],
    ["AI_NoContentGeneratedError", "truncated", true],
    ["AI_InvalidResponseDataError", "unknown", true],
  ])("of the name %s is %s", async (name, kind, retryable) => {
    const failure = await failureOf(throwing(Object.assign(new Error("words"), { name })));
    expect(failure).toMatchObject({ kind, retryable, message: "words" });
  });

  test("may be anything", async () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("no");
        },
        get: () => {
          throw new Error("no");
        },
      },
    );
    for (const thrown of ["no", undefined, null, 7, { message: "odd" }, hostile, Object.create(null)])
      expect(await failureOf(throwing(thrown))).toMatchObject({ kind: expect.any(String) });
  });
});

describe("an answer that is none", () => {
  const cases: readonly [string, readonly Piece[], object][] = [
    ["is cut", text("Sun"), { kind: "truncated", retryable: true }],
    ["is interrupted", [...text("Sun"), finish("interrupted")], { kind: "truncated", retryable: true }],
    [
      "ended by an error",
      [...text("Sun"), finish("error", "boom")],
      { kind: "unknown", retryable: true, message: expect.stringContaining("boom") },
    ],
  ];
  test.each(cases)("because it %s fails, with what had come", async (_, pieces, failure) => {
    const { outcome } = await ask(aiSdkModel(modelOf(pieces)));
    expect(outcome).toMatchObject({ type: "failed", failure, partial: { content: [{ type: "text", text: "Sun" }] } });
  });
});

describe("a model that ignores that it is cancelled", () => {
  const silent = () =>
    modelOf(
      [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "Sun" },
      ],
      { open: true },
    );

  test("is let go when the call is aborted", async () => {
    const call = perform(aiSdkModel(silent()));
    await call.told(1);
    call.control.abort();
    expect(await call.outcome).toMatchObject({ type: "failed", failure: { code: "aborted", retryable: false } });
    expect(call.clock.waiting()).toBe(0);
  });

  test("is let go when it was silent for too long", async () => {
    const call = perform(aiSdkModel(silent()), callOf({ idleTimeoutMs: 1000 }));
    await call.told(1);
    call.clock.advance(1000);
    expect(await call.outcome).toMatchObject({
      type: "failed",
      failure: { kind: "timeout", retryable: true, message: expect.stringContaining("1000 ms") },
      partial: { content: [{ type: "text", text: "Sun" }] },
    });
  });

  test("is waited for while pieces come, and let go when they are empty", async () => {
    const answering = async () => {
      const open = Promise.withResolvers<ReadableStreamDefaultController<Piece>>();
      const stream = new ReadableStream<Piece>({ start: (controller) => open.resolve(controller) });
      const model = new MockLanguageModelV4({ doStream: () => Promise.resolve({ stream }) });
      const call = perform(aiSdkModel(model), callOf({ idleTimeoutMs: 1000 }));
      const controller = await open.promise;
      const say = (delta: string): void => controller.enqueue({ type: "text-delta", id: "1", delta });
      controller.enqueue({ type: "text-start", id: "1" });
      say("Sun");
      await call.told(1);
      call.clock.advance(999);
      return { call, controller, say };
    };
    const living = await answering();
    living.say("ny.");
    await living.call.told(2);
    living.call.clock.advance(999);
    living.controller.enqueue({ type: "text-end", id: "1" });
    living.controller.enqueue(finish("stop"));
    expect(await living.call.outcome).toMatchObject({ type: "completed", reply: { content: "Sunny." } });
    const empty = await answering();
    empty.say("");
    await new Promise(setImmediate);
    empty.call.clock.advance(1);
    expect(await empty.call.outcome).toMatchObject({ failure: { kind: "timeout" } });
  });

  test("or never answers is let go too, before or after it was called", async () => {
    const never = new MockLanguageModelV4({ doStream: () => new Promise(() => {}) });
    const call = perform(aiSdkModel(never), callOf({ idleTimeoutMs: 1000 }));
    call.clock.advance(1000);
    expect(await call.outcome).toMatchObject({ failure: { kind: "timeout" } });
    const aborted = perform(aiSdkModel(never));
    aborted.control.abort();
    expect(await aborted.outcome).toMatchObject({ failure: { code: "aborted" } });
  });
});

test("a call that was cancelled before it began is not made", async () => {
  const model = modelOf([finish("stop")]);
  const [signal, clock] = [AbortSignal.abort(), testClock()];
  const outcome = await aiSdkModel(model)(callOf(), { signal, onDelta: () => {}, clock, tools: [] });
  expect(outcome).toMatchObject({ type: "failed", failure: { code: "aborted" } });
  // The SDK prepares a call in some steps.
  await new Promise(setImmediate);
  expect(model.doStreamCalls).toEqual([]);
});

describe("a key", () => {
  const [sent, given, environment] = ["sk-sent-0123456789abcdef", "header-0123456789abcdef", "env-0123456789abcdef"];
  // The SDK's providers hold their headers so.
  const config = { headers: () => ({ Authorization: `Bearer ${sent}` }) };
  const model = (pieces: readonly Piece[]): MockLanguageModelV4 => Object.assign(modelOf(pieces), { config });
  const exchange = (made: MockLanguageModelV4): Promise<{ outcome: LlmOutcome; deltas: readonly LlmDelta[] }> => {
    process.env["SOME_API_KEY"] = environment;
    onTestFinished(() => void delete process.env["SOME_API_KEY"]);
    return ask(aiSdkModel(made, { headers: { "x-api-key": given } }));
  };

  test("that is echoed stands in no reply and in no piece, however it is cut", async () => {
    const said = [sent, given, environment].flatMap((key) => [`[${key.slice(0, 9)}`, `${key.slice(9)}] `]);
    const input = JSON.stringify({ key: sent });
    const { outcome, deltas } = await exchange(
      model([
        ...text(...said),
        { type: "tool-call", toolCallId: "a", toolName: "f", input },
        finish("other", `stop ${sent}`),
      ]),
    );
    const seen = JSON.stringify([
      outcome,
      deltas.map((delta) => (delta.type === "text" ? delta.text : JSON.stringify(delta))).join(""),
    ]);
    for (const key of [sent, given, environment]) expect(seen).not.toContain(key.slice(0, 12));
    expect(outcome).toMatchObject({ type: "completed", reply: { toolCalls: [{ arguments: '{"key":"[redacted]"}' }] } });
  });

  test("stands in no failure, nor does what was asked", async () => {
    const error = apiError({
      statusCode: 400,
      message: `no: ${sent}`,
      responseBody: `bad ${given} ${environment}`,
      data: { key: sent },
    });
    const failing = Object.assign(throwing(error), { config });
    const { outcome } = await exchange(failing);
    expect(outcome).toMatchObject({ type: "failed", failure: { kind: "bad_request" } });
    for (const secret of [sent, given, environment, "my words"]) expect(JSON.stringify(outcome)).not.toContain(secret);
  });
});
