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
    [402, { message: "Insufficient credits" }, "rate_limit", false],
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

  test("of a gateway is judged by what the model's provider said", () => {
    const raw = JSON.stringify({ error: { message: "maximum context length is 10 tokens" } });
    const error = { message: "Provider returned error", code: 400, metadata: { raw } };
    expect(failureOfResponse({ status: 400, error }, setting)).toMatchObject({
      kind: "context_length",
      message: "Provider returned error: maximum context length is 10 tokens",
    });
  });
});

describe("an error in place of an answer", () => {
  test.each([
    [{ message: "no", type: "invalid_request_error", code: "tool_use_failed", status_code: 400 }, "bad_request", false],
    [{ message: "no", code: 502 }, "unknown", true],
    [{ message: "no", code: "429" }, "rate_limit", true],
    [{ message: "no", type: "overloaded_error" }, "overloaded", true],
    [{ message: "no", code: "rate_limit_exceeded" }, "rate_limit", true],
    [{ message: "no", type: "authentication_error" }, "auth", false],
    [{ message: "no", type: "server_error" }, "unknown", true],
    [{ message: "failed to decode, try again, increasing context size or reducing parallel" }, "unknown", true],
    ["no", "unknown", true],
    [{}, "unknown", true],
  ])("%j is %s", (error, kind, retryable) => {
    const failure = failureOfErrorObject(error, setting);
    expect(failure).toMatchObject({ kind, retryable });
    expect(failure.message).not.toBe("");
  });
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
