import { APIConnectionTimeoutError, APIUserAbortError } from "openai";
import { describe, expect, test } from "vitest";
import { failureOfErrorObject, failureOfResponse, failureOfThrown } from "../../../src/llm/failure/failure.ts";

const setting = { now: 0 };

describe("an error response", () => {
  test.each([
    [400, { message: "no" }, "bad_request", false],
    [400, { message: "no", code: "context_length_exceeded" }, "context_length", false],
    [400, { message: "This model's maximum context length is 4096 tokens." }, "context_length", false],
    [
      400,
      { message: "The input token count (1200000) exceeds the maximum number of tokens allowed" },
      "context_length",
      false,
    ],
    [413, { message: "prompt is too long: 210000 tokens > 200000 maximum" }, "context_length", false],
    [500, { message: "the request exceeds the available context size" }, "context_length", false],
    [400, { message: "max_tokens is too large: 100000. This model supports at most 16384" }, "bad_request", false],
    [
      400,
      { message: "no", code: "content_filter", innererror: { code: "ResponsibleAIPolicyViolation" } },
      "content_filter",
      false,
    ],
    [403, { message: "Your input was flagged" }, "content_filter", false],
    [401, { message: "no" }, "auth", false],
    // About the account, and not about the prompt.
    [401, { message: "Your account has been flagged. Contact support." }, "auth", false],
    [429, { message: "Your requests to the content filter are too many." }, "rate_limit", true],
    [402, { message: "Insufficient credits" }, "rate_limit", false],
    [402, { message: "no" }, "rate_limit", false],
    [403, { message: "no" }, "auth", false],
    [404, { message: "no", code: "model_not_found" }, "bad_request", false],
    [408, { message: "no" }, "timeout", true],
    [409, { message: "no" }, "unknown", true],
    [422, { message: "no" }, "bad_request", false],
    [429, { message: "no" }, "rate_limit", true],
    [
      429,
      { message: "You exceeded your current quota", type: "insufficient_quota", code: "insufficient_quota" },
      "rate_limit",
      false,
    ],
    [429, { message: "You exceeded your current quota", status: "RESOURCE_EXHAUSTED", code: 429 }, "rate_limit", true],
    [429, { message: "Request too large for gpt-4o on tokens per min" }, "rate_limit", false],
    [429, { message: "The engine is currently overloaded", type: "engine_overloaded_error" }, "overloaded", true],
    [500, { message: "no" }, "unknown", true],
    // A gateway's own key for the model's provider may be wrong, and is not the caller's.
    [500, { message: "Invalid API key", code: "invalid_api_key" }, "unknown", true],
    [429, { message: "Too many requests. A missing API key lowers the limit." }, "rate_limit", true],
    [502, { message: "no" }, "unknown", true],
    [503, { message: "no" }, "overloaded", true],
    [504, { message: "no" }, "timeout", true],
    [529, { message: "no" }, "overloaded", true],
  ])("%i with %j is %s", (status, error, kind, retryable) => {
    expect(failureOfResponse({ status, error }, setting)).toMatchObject({
      kind,
      retryable,
      status,
      message: error.message,
    });
  });

  test("that says whether to try again is believed", () => {
    const headers = (advice: string): Headers => new Headers({ "x-should-retry": advice });
    expect(failureOfResponse({ status: 400, error: "no", headers: headers("true") }, setting).retryable).toBe(true);
    expect(failureOfResponse({ status: 500, error: "no", headers: headers("false") }, setting).retryable).toBe(false);
  });

  test.each([
    // OpenAI, Groq, Azure, Gemini
    ["Rate limit reached. Limit: 3 / min. Please try again in 20s. Visit our page.", 20_000],
    ["Rate limit reached. Please try again in 6ms.", 6],
    ["Rate limit reached. Please try again in 1m12.3s.", 72_300],
    ["Rate limit reached. Try again in 2 minutes", 120_000],
    ["You have exceeded the call rate limit. Please retry after 1 second.", 1000],
    ["You exceeded your current quota. Please retry in 22.5s.", 22_500],
    [`Please try again in ${"9".repeat(50)}h.`, Number.MAX_SAFE_INTEGER],
    ["Please wait before trying again.", undefined],
    ["Please try again in a moment. You used 20s.", undefined],
  ])("that says only in words how long to wait is waited for: %s", (message, retryAfterMs) => {
    for (const error of [{ message }, { message, type: "tokens", code: "rate_limit_exceeded" }]) {
      expect(failureOfResponse({ status: 429, error }, setting).retryAfterMs).toBe(retryAfterMs);
      expect(failureOfErrorObject({ code: "rate_limit_exceeded", ...error }, setting).retryAfterMs).toBe(retryAfterMs);
    }
  });

  test("of Gemini is waited for as long as its details say", () => {
    const details = [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "36s" }];
    const error = [{ error: { code: 429, message: "no", status: "RESOURCE_EXHAUSTED", details } }];
    expect(failureOfResponse({ status: 429, error }, setting)).toMatchObject({ retryable: true, retryAfterMs: 36_000 });
  });

  test("is waited for as its headers say, whatever its words are", () => {
    const error = { message: "Please try again in 20s." };
    const waitOf = (after: string): number | undefined =>
      failureOfResponse({ status: 429, error, headers: new Headers({ "retry-after": after }) }, setting).retryAfterMs;
    expect([waitOf("7"), waitOf("1m30s"), waitOf("soon")]).toEqual([7000, 90_000, 20_000]);
  });

  test("that waiting does not end has no wait", () => {
    const error = { message: "Prompt too long. Please try again in 20s.", code: "context_length_exceeded" };
    expect(failureOfResponse({ status: 400, error }, setting)).not.toHaveProperty("retryAfterMs");
  });

  test.each([
    // Ollama, vLLM, Azure, OpenAI, nginx, Express
    [404, "404 page not found"],
    [404, { detail: "Not Found" }],
    [405, { detail: "Method Not Allowed" }],
    [404, { message: "Resource not found", code: "404" }],
    [404, { message: "Invalid URL (POST /v1/v1/chat/completions)", type: "invalid_request_error" }],
    [404, "<html><head><title>404 Not Found</title></head></html>"],
    [404, "<pre>Cannot POST /chat/completions</pre>"],
    // LM Studio
    [200, "Unexpected endpoint or method. (POST /chat/completions)"],
  ])("of a wrong address says where to look: %i %j", (status, error) => {
    const failure =
      status === 200 ? failureOfErrorObject(error, setting) : failureOfResponse({ status, error }, setting);
    expect(failure).toMatchObject({ kind: "bad_request", retryable: false });
    expect(failure.message).toMatch(/; check the base URL$/);
  });

  test.each(["The model `m` does not exist.", "Not found the model m or Permission denied", "No endpoints found"])(
    "of a wrong model says nothing of the address: %s",
    (message) => {
      expect(failureOfResponse({ status: 404, error: { message } }, setting).message).toBe(message);
    },
  );

  test.each([
    // requests, in vLLM and others, of the address of an image
    "Invalid URL 'cat.png': No scheme supplied. Perhaps you meant https://cat.png?",
    "Invalid URL: only http and https are supported",
  ])("of another address than the server's says nothing of that one: %s", (message) => {
    expect(failureOfResponse({ status: 400, error: { message } }, setting).message).toBe(message);
  });

  test("that comes as an event of a stream is read", () => {
    const data = 'data: {"error":{"message":"no","code":"insufficient_quota"}}';
    const facts = { kind: "rate_limit", retryable: false, message: "no", code: "insufficient_quota" };
    for (const error of [
      `id: 1\nevent: error\n: HTTP_STATUS/429\n${data}\n\n`,
      `retry: 3000\r\nevent: error\r\n${data}\r\n\r\n`,
      `${data}\n\ndata: [DONE]\n\n`,
    ])
      expect(failureOfResponse({ status: 429, error }, setting)).toMatchObject(facts);
  });

  test("of a gateway is judged by what the model's provider said", () => {
    const raw = JSON.stringify({ error: { message: "maximum context length is 10 tokens" } });
    const error = { message: "Provider returned error", code: 400, metadata: { raw } };
    expect(failureOfResponse({ status: 400, error }, setting)).toMatchObject({
      kind: "context_length",
      message: "Provider returned error: maximum context length is 10 tokens",
    });
  });
});

test.each([
  [{ message: "no", type: "invalid_request_error", code: "tool_use_failed", status_code: 400 }, "unknown", true],
  [{ message: "no", code: 502 }, "unknown", true],
  [{ message: "no", code: "429" }, "rate_limit", true],
  [{ message: "no", type: "overloaded_error" }, "overloaded", true],
  [{ message: "no", code: "rate_limit_exceeded" }, "rate_limit", true],
  [{ message: "no", type: "authentication_error" }, "auth", false],
  [{ message: "no", type: "server_error" }, "unknown", true],
  [
    { message: "context deadline exceeded (Client.Timeout or context cancellation while reading body)" },
    "unknown",
    true,
  ],
  [{ message: "failed to decode, try again, increasing context size or reducing parallel" }, "unknown", true],
  ["no", "unknown", true],
  [{}, "unknown", true],
])("an error in place of an answer %j is %s", (error, kind, retryable) => {
  const failure = failureOfErrorObject(error, setting);
  expect(failure).toMatchObject({ kind, retryable });
  expect(failure.message).not.toBe("");
});

describe("an error of 400 or so", () => {
  const kindOf = (message: string, status = 400, code: string | null = null): unknown => {
    const { kind, retryable } = failureOfResponse({ status, error: { message, code } }, setting);
    return [kind, retryable];
  };

  // Each in the words of the server that the comment names.
  test.each([
    [
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
      "OpenAI Responses",
    ],
    ["prompt is too long: 200251 tokens > 200000 maximum", "Anthropic"],
    ["input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000", "Anthropic"],
    ["The input token count (1189077) exceeds the maximum number of tokens allowed (1048576).", "Gemini"],
    [
      "Unable to submit request because the input token count is 33000 but the model only supports up to 32768.",
      "Vertex",
    ],
    ["the request exceeds the available context size, try increasing it", "llama.cpp"],
    ["The decoder prompt (length 5000) is longer than the maximum model length of 4096.", "vLLM"],
    [
      "Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
      "Mistral",
    ],
    ["the input length exceeds the context length", "Ollama"],
    ["prompt too long; exceeded max context length by 12 tokens", "Ollama"],
    ["This model's maximum context length is 65536 tokens. However, you requested 70000 tokens", "DeepSeek"],
    ["Please reduce the length of the messages or completion.", "Groq"],
    ["This model's maximum prompt length is 131072 but the request contains 200000 tokens.", "xAI"],
    ["too many tokens: total number of tokens in the prompt cannot exceed 4081", "Cohere"],
    ["Input is too long for requested model.", "Bedrock"],
    ["Input Tokens Exceeded: Number of input tokens exceeds maximum length.", "Bedrock Nova"],
    ["Input validation error: `inputs` must have less than 1024 tokens. Given: 5000", "Text Generation Inference"],
    ["prompt token count of 140000 exceeds the limit of 128000", "Copilot"],
    ["Prompt exceeds max length", "Zhipu"],
    ["Invalid request: Your request exceeded model token limit: 8192", "Moonshot"],
    ["Range of input length should be [1, 129024]", "DashScope"],
    [
      "Trying to keep the first 5000 tokens, but the model is loaded with context length of only 4096 tokens",
      "LM Studio",
    ],
  ])("that says %j (%s) is about the length of the prompt", (message) => {
    expect(kindOf(message)).toEqual(["context_length", false]);
    expect(kindOf(message, 500)).toEqual(["context_length", false]);
  });

  test("of status 413 is about the length of the prompt, whatever it says", () => {
    expect(kindOf("Request Entity Too Large", 413)).toEqual(["context_length", false]);
    const perMinute = "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7500";
    expect(kindOf(perMinute, 413, "rate_limit_exceeded")).toEqual(["context_length", false]);
    expect(kindOf(perMinute, 429, "rate_limit_exceeded")).toEqual(["rate_limit", false]);
  });

  test.each([
    "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens",
    "Invalid image: the input image exceeds the maximum size",
    "Invalid 'messages[0].name': string does not match pattern",
    "Missing required parameter: 'messages'",
    "max_tokens must be at least 1, got 0.",
    "Unexpected token < in JSON at position 5",
    "Error while downloading https://example.com/a.png: 401 Unauthorized",
    "Limit of requested tokens per minute exceeded, the maximum is 6000",
  ])("that says %j is neither about the prompt nor about a key", (message) => {
    expect(kindOf(message)).toEqual(["bad_request", false]);
  });

  test.each([
    ["API key not valid. Please pass a valid API key.", "Gemini"],
    ["API key expired. Please renew the API key.", "Gemini"],
    ["Missing or invalid Authorization header.", "Gemini"],
    ["Incorrect API key provided: xa***. You can obtain an API key from https://console.x.ai.", "xAI"],
    ["Invalid API Key", "Groq"],
  ])("that says %j (%s) is about the key", (message) => {
    expect(kindOf(message)).toEqual(["auth", false]);
    expect(kindOf(message, 422)).toEqual(["auth", false]);
  });

  test.each<[string, number, string | null, string]>([
    ["no", 400, "tool_use_failed", "Groq"],
    [
      "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      400,
      null,
      "Groq",
    ],
    ["Tool call validation failed: attempted to call tool 'x' which was not in request.tools", 400, null, "Groq"],
    ["Failed to generate JSON. Please adjust your prompt.", 400, "json_validate_failed", "Groq"],
    ["Model produced invalid sequence as part of ToolUse.", 424, null, "Bedrock"],
    ["Request failed during generation", 424, null, "Text Generation Inference"],
  ])(
    "that says %j (%s, %s; %s) is about what the model wrote, and may be mended by another try",
    (message, status, code) => {
      expect(kindOf(message, status, code)).toEqual(["unknown", true]);
    },
  );
});

describe("something thrown", () => {
  const caused = (code: string): TypeError =>
    new TypeError("terminated", { cause: Object.assign(new Error("other side closed"), { code }) });

  test.each([
    [new APIConnectionTimeoutError(), { kind: "timeout", retryable: true }],
    [new APIUserAbortError(), { code: "aborted", retryable: false }],
    [new DOMException("aborted", "AbortError"), { code: "aborted", retryable: false }],
    [
      caused("UND_ERR_SOCKET"),
      { kind: "network", retryable: true, message: "the connection failed: UND_ERR_SOCKET other side closed" },
    ],
    [caused("UND_ERR_BODY_TIMEOUT"), { kind: "timeout", retryable: true }],
    [new TypeError("terminated"), { kind: "network", retryable: true }],
    [new TypeError("x is not a function"), { kind: "unknown", retryable: false, message: "x is not a function" }],
    ["odd", { kind: "unknown", retryable: false, message: "odd" }],
  ])("%s is classified", (thrown, expected) => {
    expect(failureOfThrown(thrown, setting)).toMatchObject(expected);
  });
});

describe("a body that says what went wrong under other names", () => {
  test.each<[object, string, boolean]>([
    // MiniMax and Baidu, with status 200.
    [{ choices: null, base_resp: { status_code: 1001, status_msg: "x" } }, "timeout", true],
    [{ choices: null, base_resp: { status_code: 1002, status_msg: "x" } }, "rate_limit", true],
    [{ choices: [], base_resp: { status_code: 1004, status_msg: "x" } }, "auth", false],
    [{ choices: null, base_resp: { status_code: 1008, status_msg: "x" } }, "rate_limit", false],
    [{ choices: null, base_resp: { status_code: 1027, status_msg: "x" }, usage: {} }, "content_filter", false],
    [{ choices: null, base_resp: { status_code: 1013, status_msg: "x" } }, "unknown", true],
    [{ choices: null, base_resp: { status_code: 2013, status_msg: "x" } }, "bad_request", false],
    [{ error_code: 2, error_msg: "x" }, "overloaded", true],
    [{ error_code: 3, error_msg: "x" }, "bad_request", false],
    [{ error_code: 15, error_msg: "x" }, "unknown", true],
    [{ error_code: 17, error_msg: "x" }, "rate_limit", false],
    [{ error_code: 336103, error_msg: "x" }, "context_length", false],
    [{ error_code: 336100, error_msg: "x" }, "unknown", true],
    [{ detail: { error: "insufficient_balance", message: "x" } }, "rate_limit", false],
    [{ detail: { code: "context_length_exceeded", message: "x" } }, "context_length", false],
    [{ error: "rate_limited", message: "x" }, "rate_limit", true],
    [{ code: 429, msg: "x" }, "rate_limit", true],
  ])("%j is %s", (error, kind, retryable) => {
    expect(failureOfErrorObject({ ...error }, setting)).toMatchObject({ kind, retryable, message: "x" });
  });

  test("the codes of MiniMax and Baidu map to failure kinds, and other codes are unknown and retryable", () => {
    const codes: Record<string, number[]> = {};
    for (const code of [...Array(2_200).keys(), ...Array.from({ length: 600 }, (_, index) => 336_000 + index)]) {
      // Codes of this range are read as HTTP statuses.
      if (code >= 400 && code < 600) continue;
      const { kind, retryable } = failureOfErrorObject({ error_code: code, error_msg: "x" }, setting);
      if (kind !== "unknown" || !retryable) (codes[`${kind}${retryable ? ", again" : ""}`] ??= []).push(code);
    }
    expect(codes).toEqual({
      "timeout, again": [1001],
      "overloaded, again": [2],
      "rate_limit, again": [4, 18, 1002, 1039, 1041, 2045, 336501, 336502, 336503],
      rate_limit: [17, 19, 1008, 2056],
      auth: [6, 13, 14, 100, 110, 111, 1004, 2049, 336004],
      content_filter: [1026, 1027],
      context_length: [336007, 336103, 336104],
      bad_request: [3, 1042, 1043, 2013, 336001, 336002, 336003, 336005, 336006],
    });
  });

  const throttled = "Too many tokens, please wait before trying again.";
  test("throttling in a stream is a limit of rate", () => {
    const failure = failureOfErrorObject({ message: `ThrottlingException: ${throttled}`, type: "error" }, setting);
    expect(failure).toMatchObject({ kind: "rate_limit", retryable: true });
  });

  test.each<[string, number, string, boolean]>([
    ["输入长度超过模型最大上下文长度限制", 400, "context_length", false],
    ["Prompt 超长", 400, "context_length", false],
    ["输入图片大小超过 10MB", 400, "bad_request", false],
    ["您的账户已欠费，请充值后重试", 429, "rate_limit", false],
    ["用户余额不足", 403, "rate_limit", false],
    ["当前分组上游负载已饱和，请稍后再试", 500, "overloaded", true],
    ["请求过于频繁，请稍后再试", 400, "rate_limit", true],
    ["内容包含敏感词", 400, "content_filter", false],
    ["无效的令牌", 400, "auth", false],
    ["Content Exists Risk", 400, "content_filter", false],
    ["Input data may contain inappropriate content.", 400, "content_filter", false],
    ["Content violates usage guidelines.", 403, "content_filter", false],
    ["Your credit balance is too low to access the Anthropic API.", 400, "rate_limit", false],
    ["You have reached your specified API usage limits.", 400, "rate_limit", false],
    ["Key limit exceeded (total limit)", 403, "rate_limit", false],
    ["Resource has been exhausted (e.g. check quota).", 429, "rate_limit", true],
    ["ThrottlingException: Rate exceeded", 400, "rate_limit", true],
    [`ThrottlingException: ${throttled}`, 400, "rate_limit", true],
    [`BedrockException - ThrottlingException: ${throttled}`, 503, "rate_limit", true],
    [throttled, 500, "rate_limit", true],
    ["You have exceeded a secondary rate limit.", 403, "rate_limit", true],
    ["No rate limit is set for this model.", 404, "bad_request", false],
    ["The rate limit is bound to another key.", 401, "auth", false],
    ["inputs tokens + max_new_tokens must be <= 4097", 422, "context_length", false],
    ["tokens in request more than max tokens allowed", 400, "context_length", false],
    ["litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException", 400, "context_length", false],
    ["Invalid 'messages[1].content': string too long. Expected 1048576", 400, "context_length", false],
    ["Invalid 'messages': array too long. Expected 2048", 400, "context_length", false],
    ["Invalid 'messages[1].tool_calls[0].id': string too long. Expected 40", 400, "bad_request", false],
    ["Invalid 'tools': array too long. Expected 128", 400, "bad_request", false],
  ])("%j with status %i is %s", (message, status, kind, retryable) => {
    expect(failureOfResponse({ status, error: { message } }, setting)).toMatchObject({ kind, retryable });
  });
});
