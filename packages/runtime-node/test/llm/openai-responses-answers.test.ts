import type { JsonObject } from "@colloquy/machine";
import { describe, expect, test } from "vitest";
import {
  argumentsDelta,
  callOf,
  created,
  ended,
  eventsOf,
  exchange,
  messageOf,
  reasoning,
  responseOf,
  said,
  streaming,
  summaryDelta,
  textDelta,
} from "./responses.ts";
import { type Answer, answering, answeringJson } from "./server.ts";

describe("an answer", () => {
  const output = [reasoning, callOf("a", "Oslo"), callOf("b", "Rome"), said];
  const reply = {
    content: [
      { type: "reasoning", text: "Look it up.\nThen say.", provider: { responses: { item: reasoning } } },
      { type: "text", text: "Sunny." },
    ],
    toolCalls: [
      { id: "a", name: "weather", arguments: '{"city":"Oslo"}' },
      { id: "b", name: "weather", arguments: '{"city":"Rome"}' },
    ],
    provider: { responses: { id: "msg_1", phase: "final_answer" } },
  };
  const whole = {
    type: "completed",
    reply,
    finishReason: "tool_calls",
    model: "model-1",
    responseId: "resp_1",
    usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12, cacheReadTokens: 0, reasoningTokens: 3 },
  };
  const events = [
    created,
    { type: "response.in_progress" },
    ...eventsOf(reasoning, 0, summaryDelta("Look "), summaryDelta("it up."), summaryDelta("Then say.", 1)),
    ...eventsOf(callOf("a", "Oslo"), 1, argumentsDelta('{"city":'), argumentsDelta('"Oslo"}')),
    ...eventsOf(callOf("b", "Rome"), 2, argumentsDelta('{"city":"Rome"}')),
    ...eventsOf(said, 3, textDelta("Sun"), textDelta("ny.")),
  ];
  const calledPiece = (index: number, id: string, text: string) => ({
    type: "toolCall",
    index,
    id,
    name: "weather",
    arguments: text,
  });

  test("in pieces is what the finished items say, and is shown as it comes", async () => {
    const { outcome, deltas } = await exchange(streaming(...events, ended([])));
    expect(outcome).toMatchObject(whole);
    expect(deltas).toEqual([
      { type: "reasoning", text: "Look " },
      { type: "reasoning", text: "it up." },
      { type: "reasoning", text: "\nThen say." },
      calledPiece(0, "a", ""),
      calledPiece(0, "a", '{"city":'),
      calledPiece(0, "a", '"Oslo"}'),
      calledPiece(1, "b", ""),
      calledPiece(1, "b", '{"city":"Rome"}'),
      { type: "text", text: "Sun" },
      { type: "text", text: "ny." },
    ]);
  });

  test("loses no item that has no event of its own", async () => {
    const { outcome, deltas } = await exchange(streaming(...events.slice(0, 6), ended(output)));
    expect(outcome).toMatchObject({ reply });
    expect(deltas.slice(3)).toEqual([
      calledPiece(0, "a", '{"city":"Oslo"}'),
      calledPiece(1, "b", '{"city":"Rome"}'),
      { type: "text", text: "Sunny." },
    ]);
  });

  test("with a search that its server made records the server, since no other can read it", async () => {
    const search = { type: "web_search_call", status: "completed" };
    const text = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Sunny." }] };
    const { outcome } = await exchange(streaming(ended([search, text])));
    expect(outcome).toMatchObject({ type: "completed", reply: { provider: { origin: "models.example model" } } });
  });

  test("that ends early is kept whole, with its reason", async () => {
    const cut = { incomplete_details: { reason: "max_output_tokens" } };
    const half = messageOf("Sun", { status: "incomplete" });
    const end = ended([half], cut, "incomplete");
    for (const answer of [streaming(...eventsOf(half, 0, textDelta("Sun")), end), answeringJson(end.response)])
      expect((await exchange(answer)).outcome).toMatchObject({
        type: "completed",
        finishReason: "length",
        reply: { content: "Sun" },
      });
    const filtered = ended([half], { incomplete_details: { reason: "content_filter" } }, "incomplete");
    expect((await exchange(streaming(filtered))).outcome).toMatchObject({ finishReason: "content_filter" });
  });

  test.each([
    ["only thinks", [reasoning], {}],
    ["is incomplete for no reason", [], { status: "incomplete" }],
    ["has an item without an answer that was cut", [{ ...messageOf(""), status: "incomplete", content: [] }], {}],
  ])("that %s is a failure, and may be tried again", async (_, output, more) => {
    const { outcome } = await exchange(streaming(ended(output, more)));
    expect(outcome).toMatchObject({ type: "failed", failure: { kind: "unknown", retryable: true } });
  });
});

describe("a failure", () => {
  const begun = [created, ...eventsOf(said, 0, textDelta("Sun")).slice(0, 2)];

  test.each<[string, readonly object[], JsonObject]>([
    ["that the stream does not end", [], { kind: "truncated", retryable: true }],
    [
      "of the response",
      [ended([], { error: { code: "server_error", message: "It broke." } }, "failed")],
      { kind: "unknown", retryable: true, code: "server_error", message: "It broke." },
    ],
    [
      "of the response, with a time to wait",
      [ended([], { error: { code: "rate_limit_exceeded", message: "Please try again in 1.25s." } }, "failed")],
      { kind: "rate_limit", retryable: true, retryAfterMs: 1250 },
    ],
    ["of the response, without a word", [ended([], {}, "failed")], { kind: "unknown", retryable: true }],
    [
      "as an event",
      [{ type: "error", code: "context_length_exceeded", message: "Too long.", param: null, sequence_number: 3 }],
      { kind: "context_length", retryable: false, code: "context_length_exceeded" },
    ],
    [
      "as an event around an error",
      [{ type: "error", error: { type: "server_error", code: "503", message: "Overloaded." } }],
      { kind: "overloaded", retryable: true, status: 503 },
    ],
  ])("%s is one, with what had come", async (_, events, failure) => {
    const { outcome } = await exchange(streaming(...begun, ...events));
    expect(outcome).toMatchObject({ type: "failed", failure, partial: { content: "Sun" } });
  });

  test.each<[string, Answer, JsonObject]>([
    [
      "an error",
      answeringJson({ error: { message: "No such model.", code: "model_not_found" } }),
      { kind: "bad_request" },
    ],
    [
      "a failed answer",
      answeringJson(responseOf([], { status: "failed", error: { message: "It broke." } })),
      { kind: "unknown", retryable: true },
    ],
    [
      "an answer that is yet to come",
      answeringJson(responseOf([], { status: "queued" })),
      { kind: "unknown", retryable: false },
    ],
    [
      "a page",
      answering("<html>no</html>", 200, { "content-type": "text/html" }),
      { kind: "unknown", retryable: false },
    ],
    [
      "an item that is none",
      answeringJson(responseOf([{ type: "function_call" }])),
      { kind: "unknown", retryable: true },
    ],
  ])("under status 200: %s", async (_, answer, failure) => {
    expect((await exchange(answer)).outcome).toMatchObject({ type: "failed", failure });
  });
});
