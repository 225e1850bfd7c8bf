import { APIError } from "openai";
import { describe, expect, test } from "vitest";
import {
  failureOfBody,
  failureOfErrorObject,
  failureOfResponse,
  failureOfThrown,
} from "../../../src/llm/failure/failure.ts";

const setting = { now: 1_000_000 };

test.each<[number, string, boolean]>([
  [400, "bad_request", false],
  [424, "unknown", true],
  [425, "unknown", true],
  [498, "overloaded", true],
  [499, "bad_request", false],
  [500, "unknown", true],
  [524, "timeout", true],
  [501, "unknown", true],
])("a response of status %i without a word is %s", (status, kind, retryable) => {
  const message = `the server answered with status ${status}`;
  expect(failureOfResponse({ status, error: "" }, setting)).toEqual({ kind, retryable, status, message });
});

test("an error without a word is said to be one", () => {
  const message = "the server reported an error and did not say which";
  expect(failureOfErrorObject("", setting)).toEqual({ kind: "unknown", retryable: true, message });
});

describe("a body with a good status and no answer", () => {
  test.each<[string, object]>([
    ["", { kind: "truncated", message: "the server's answer was empty" }],
    [
      ": ping\n\nevent: ping\nid: 7\nretry: 10\ndata: [DONE]\ndata:[DONE]\n",
      { kind: "truncated", message: "the server's answer was empty" },
    ],
    [' {"a": ', { kind: "truncated", message: 'the server\'s answer breaks off: {"a":' }],
    ["[1,", { kind: "truncated", message: "the server's answer breaks off: [1," }],
    ["well,\n no", { kind: "unknown", message: "the server's answer holds no reply: well, no" }],
    ['{"a" : "\\u0062"}', { kind: "unknown", message: 'the server\'s answer holds no reply: {"a":"b"}' }],
    ['{"error":{}, "id": 7}', { kind: "unknown", message: 'the server\'s answer holds no reply: {"error":{},"id":7}' }],
    ['{"error":"", "id": 7}', { kind: "unknown", message: 'the server\'s answer holds no reply: {"error":"","id":7}' }],
    ['{"error":"too many requests"}', { kind: "rate_limit", message: "too many requests" }],
    ['{"object":"error","message":"no","type":"a"}', { kind: "unknown", message: "no" }],
    ['{"detail":["no"]}', { kind: "unknown", message: "no" }],
    [
      '{"code":0,"message":"Success"}',
      { kind: "unknown", message: expect.stringContaining("holds no reply") as unknown },
    ],
    ['{"code":"7","message":"no"}', { kind: "unknown", code: "7", message: "no" }],
    ['{"code":null,"message":"no","type":"timeout"}', { kind: "timeout", message: "no" }],
    ['{"type":"timeout","message":"no"}', { kind: "timeout", message: "no" }],
    ['{"message":"no"}', { kind: "unknown", message: expect.stringContaining("holds no reply") as unknown }],
    [
      '{"usage":{},"message":"no","type":"timeout"}',
      { kind: "unknown", message: expect.stringContaining("holds no reply") as unknown },
    ],
    [
      '{"base_resp":{"status_code":0},"id":7}',
      { kind: "unknown", message: expect.stringContaining("holds no reply") as unknown },
    ],
    ['{"base_resp":{},"id":7}', { kind: "unknown", message: expect.stringContaining("holds no reply") as unknown }],
    ['{"error_code":0,"id":7}', { kind: "unknown", message: expect.stringContaining("holds no reply") as unknown }],
    ['{"error_code":null,"id":7}', { kind: "unknown", message: expect.stringContaining("holds no reply") as unknown }],
  ])("%j fails the call", (body, expected) => {
    expect(failureOfBody(body, setting)).toMatchObject({ retryable: true, ...expected });
  });

  test.each(["<!doctype html>", "<HTML>", "<?xml version>", "<head>", "<body>"])(
    "that is a page fails it: %s",
    (body) => {
      expect(failureOfBody(` ${body}`, setting)).toEqual({
        kind: "unknown",
        retryable: false,
        message: `the server answered with a page, not with JSON; check the base URL: ${body}`,
      });
    },
  );
});

describe("the words of an error", () => {
  const messageOf = (error: unknown): string => failureOfResponse({ status: 500, error }, setting).message;

  test.each<[unknown, string]>([
    [{ msg: "one" }, "one"],
    [{ message: "", msg: "two" }, "two"],
    [{ message: "one", msg: "two", detail: "three" }, "one"],
    [{ detail: "three", type: "a" }, "three"],
    [{ error: "name_of_it", message: "words" }, "words"],
    [{ error: "name_of_it" }, "name_of_it"],
    [{ error: { message: "inner" }, message: "outer" }, "inner"],
    [{ detail: { message: "inner" } }, "inner"],
    [[{ message: "first" }, { message: "second" }], "first"],
    ['{"error":{"message":"in a text"}}', "in a text"],
    ["plain", "plain"],
    [{ odd: 1 }, '{"odd":1}'],
    [{ detail: [{ loc: ["body", 0, true], msg: "missing" }, "alone", { loc: ["a"] }, 7] }, "body.0: missing; alone; a"],
    ["<p>a</p><script>b</script><style>c</style> d", "a d"],
    [{ message: "outer", metadata: { raw: "not JSON" } }, "outer: not JSON"],
    [{ message: "outer", metadata: { raw: '{"odd":1}' } }, 'outer: {"odd":1}'],
    [{ message: "outer", metadata: {} }, "outer"],
    [{ message: "a \n\t b" }, "a b"],
    [{ message: "x".repeat(500) }, "x".repeat(500)],
    [{ message: "x".repeat(501) }, `${"x".repeat(500)}…`],
  ])("of %j are %j", (error, message) => {
    expect(messageOf(error)).toBe(message);
  });

  test("are without the secrets of the client, also in its code, which is bounded", () => {
    const secrets = ["oddly-formed-key-1"];
    const error = { message: "no oddly-formed-key-1", code: "oddly-formed-key-1" };
    const expected = { message: "no [redacted]", code: "[redacted]" };
    expect(failureOfResponse({ status: 500, error }, { ...setting, secrets })).toMatchObject(expected);
    expect(failureOfErrorObject(error, { ...setting, secrets })).toMatchObject(expected);
    expect(failureOfErrorObject({ message: "no", code: "c".repeat(201) }, setting).code).toBe("c".repeat(200));
    expect(failureOfErrorObject({ message: "no", type: "t" }, setting).code).toBe("t");
    expect(failureOfErrorObject({ message: "no", code: 7, type: "t" }, setting).code).toBe("7");
    expect(failureOfErrorObject({ message: "no", code: true }, setting)).not.toHaveProperty("code");
  });

  test.each<[number, object, number | undefined]>([
    [400, { status: 503 }, 503],
    [400, { code: 599 }, 599],
    [400, { code: 600 }, 400],
    [400, { code: 399 }, 400],
    [400, { status_code: 502, status: 503, code: 504 }, 502],
    [400, { status: "UNAVAILABLE", code: 503 }, 503],
    [401, { code: 503 }, 401],
    [0, { code: "400" }, 400],
    [0, { code: 400.5 }, undefined],
  ])("have the status that counts: of %i and %j it is %s", (status, more, expected) => {
    const error = { message: "no", ...more };
    const failure = status === 0 ? failureOfErrorObject(error, setting) : failureOfResponse({ status, error }, setting);
    expect(failure.status).toBe(expected);
  });
});

test.each<[string, number | undefined]>([
  ["5", 5_000],
  ["0", 0],
  [" 5 ", 5_000],
  ["0.0001", 1],
  ["5s", 5_000],
  ["1h 2min 3 sec", 3_723_000],
  ["100 millis", 100],
  ["1500ms", 1_500],
  ["5 days", undefined],
  ["soon", undefined],
  ["", undefined],
  ["Thu, 01 Jan 1970 00:16:50 GMT", 10_000],
  ["Thu, 01 Jan 1970 00:00:00 GMT", 0],
  ["1e300", Number.MAX_SAFE_INTEGER],
])("a server that asks to wait by %j is waited for %s ms", (after, expected) => {
  const waitOf = (headers: Record<string, string>): number | undefined =>
    failureOfResponse({ status: 503, error: "", headers: new Headers(headers) }, setting).retryAfterMs;
  expect(waitOf({ "retry-after": after })).toBe(expected);
  expect(waitOf({ "retry-after": after, "retry-after-ms": "7.2" })).toBe(8);
  expect(waitOf({ "retry-after": after, "retry-after-ms": "no" })).toBe(expected);
});

describe("an error that the SDK threw", () => {
  const thrownOf = (status: number, error: object | undefined, message: string | undefined) =>
    failureOfThrown(APIError.generate(status, error, message, new Headers({ "retry-after": "2" })), setting);

  test("has the status, the body, or else the text of the response, and the wait", () => {
    const facts = { status: 503, kind: "overloaded", retryable: true, retryAfterMs: 2_000 };
    expect(thrownOf(503, { error: { message: "no" } }, "said")).toMatchObject({ ...facts, message: "no" });
    expect(thrownOf(503, undefined, "said")).toMatchObject({ ...facts, message: "said" });
    expect(thrownOf(503, undefined, undefined)).toMatchObject({
      ...facts,
      message: "the server answered with status 503",
    });
  });

  /** Returns an error with a chain of so many causes. */
  const causedBy = (causes: number): Error =>
    causes === 0 ? new Error("error 0") : new Error(`error ${causes}`, { cause: causedBy(causes - 1) });

  test.each<[unknown, object]>([
    [
      new TypeError("fetch failed", { cause: Object.assign(new Error("closed"), { code: "ECONNRESET" }) }),
      { kind: "network", retryable: true, message: "the connection failed: ECONNRESET closed" },
    ],
    [
      new TypeError("Network Error"),
      { kind: "network", retryable: true, message: "the connection failed: Network Error" },
    ],
    [new TypeError("odd", { cause: "words" }), { kind: "network", message: "the connection failed: words" }],
    [
      new Error("odd", { cause: Object.assign(new Error("late"), { code: "ETIMEDOUT" }) }),
      { kind: "timeout", retryable: true, message: "the server did not answer in time" },
    ],
    [
      new Error("odd", { cause: Object.assign(new Error("late"), { code: "XETIMEDOUT" }) }),
      { kind: "unknown", retryable: false, message: "XETIMEDOUT late" },
    ],
    [causedBy(5), { message: "error 0" }],
    [causedBy(6), { message: "error 1" }],
    [new RangeError("too large"), { kind: "unknown", retryable: false, message: "too large" }],
  ])("or `fetch` did is told by its innermost cause: %s", (thrown, expected) => {
    expect(failureOfThrown(thrown, setting)).toMatchObject(expected);
  });
});
