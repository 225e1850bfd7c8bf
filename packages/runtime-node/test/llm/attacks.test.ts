// Attacks of a lying server. Each was possible once.
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { decodeChatStream } from "../../src/llm/reply/chat-answer.ts";
import { failureOfBody, failureOfResponse } from "../../src/llm/failure/failure.ts";
import { openaiChat } from "../../src/llm/openai.ts";
import { redact } from "@colloquy/host/runtime";
import { retryAfterMs } from "../../src/llm/failure/response-facts.ts";
import { secretsIn, sentBy } from "../../src/llm/secrets/secrets.ts";
import { ToolCallPieces } from "../../src/llm/reply/tool-call-pieces.ts";

it.each([
  ["open scripts", "<script>"],
  ["open tags", "<"],
  ["pluses", "+"],
  ["dashes", "a-"],
])("an error body of a megabyte of %s is read as far as a person would, and no further", (_, piece) => {
  const body = piece.repeat(1_000_000 / piece.length);
  const setting = { now: 0 };
  // Without a bound each takes most of a minute, and the test times out.
  expect(failureOfResponse({ status: 500, error: body }, setting)).toMatchObject({
    kind: "unknown",
    retryable: true,
  });
  expect(failureOfResponse({ status: 500, error: { message: body, code: body } }, setting).code?.length).toBeLessThan(
    300,
  );
  expect(failureOfBody(`<html>${body}`, setting).message.length).toBeLessThan(1000);
});

it.each([
  [{ "retry-after-ms": "12.5" }, 13],
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1500],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "0.0001" }, 1],
  [{ "retry-after": "1e300" }, Number.MAX_SAFE_INTEGER],
  [{ "retry-after": "Sat, 21 Nov 2026 00:00:30 GMT" }, 30_000],
  [{ "retry-after": "Fri, 20 Nov 2026 00:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{}, undefined],
])("a wait of the headers %j is %s ms", (headers, expected) => {
  expect(retryAfterMs(new Headers({ ...headers }), Date.UTC(2026, 10, 21))).toBe(expected);
});

describe("secrets", () => {
  const client = new OpenAI({
    apiKey: "sk-short-key",
    baseURL: "http://127.0.0.1:1/v1",
    defaultHeaders: { "api-key": "azure-secret-1", authorization: "Token inner-secret-2", "x-none": null },
    defaultQuery: { code: "query-secret-3" },
  });

  it("are also the values of a client's headers and of its query", () => {
    const quoted = "no access with azure-secret-1, inner-secret-2, query-secret-3 or sk-short-key";
    expect(redact(quoted, secretsIn(sentBy(client)))).toBe(
      "no access with [redacted], [redacted], [redacted] or [redacted]",
    );
  });

  it("are what stands before the @ of a URL", () => {
    expect(redact("connect to http://t0ken@host/v1 failed")).toBe("connect to http://[redacted]@host/v1 failed");
  });

  it("can't be given in a base URL", () => {
    const make = () => openaiChat({ apiKey: "none-at-all", baseURL: "http://ada:lovelace@localhost/v1" });
    expect(make).toThrow(/the base URL of localhost holds a user name or a password; send them as a header/);
    expect(make).not.toThrow(/lovelace/);
  });
});

describe("a tool call in twenty thousand pieces that each repeat its name", () => {
  it("is put together without reading what came before for each of them", () => {
    const pieces = new ToolCallPieces();
    pieces.add({ function: { name: "note", arguments: '{"text":"' } });
    for (let count = 0; count < 20_000; count++)
      pieces.add({ function: { name: "note", arguments: "words and words " } });
    pieces.add({ function: { name: "note", arguments: '"}' } });
    expect(pieces.calls()).toHaveLength(1);
  });
});

describe("an error in the middle of a stream that is not under `error`", () => {
  it.each([
    [
      "vLLM's",
      { object: "error", message: "maximum context length is 4096 tokens", type: "BadRequestError", code: 400 },
    ],
    ["one with a code alone", { message: "maximum context length is 4096 tokens", code: 400 }],
    ["FastAPI's", { detail: "Unauthorized" }],
    ["FastAPI's of a request", { detail: [{ loc: ["body", "messages", 0], msg: "Field required", type: "missing" }] }],
  ])("is one: %s", async (_, error) => {
    const body = `data: {"id":"1","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\ndata: ${JSON.stringify(error)}\n\n`;
    const decoded = await decodeChatStream(new TextEncoder().encode(body));
    expect(decoded.error).toEqual(error);
  });

  it("is none where it is a chunk of another kind", async () => {
    const body = 'data: {"id":"1","choices":[],"message":"hello","type":"note"}\n\ndata: {"type":"ping"}\n\n';
    expect((await decodeChatStream(new TextEncoder().encode(body))).error).toBeUndefined();
  });
});

it.each(['data: {"choices":[{"index":0,"del', ": ping\n\n: ping\n\n", ': ping\n\ndata: {"id":'])(
  "a stream that is half a line, or comments alone breaks off: %j",
  (body) => {
    expect(failureOfBody(body, { now: 0 })).toMatchObject({ kind: "truncated", retryable: true });
  },
);
