import type { ReplyDraft } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { expect, test } from "vitest";
import { deltasOf, nothingSaid, outcomeOf } from "../../../src/llm/reply/answer-reader.ts";

const thought: ReplyDraft = { content: [{ type: "reasoning", text: "Hm." }] };
const nothing: readonly ReplyDraft[] = [
  {},
  { content: "" },
  { content: " \n" },
  { content: [{ type: "text", text: "" }] },
];
const something: readonly ReplyDraft[] = [
  { content: "Yes." },
  { content: [{ type: "refusal", text: "No." }] },
  { content: [{ type: "opaque", value: { type: "file" } }] },
  { toolCalls: [{ id: "a", name: "f", arguments: "" }] },
  { provider: { function_call: { name: "f", arguments: "{}" } } },
  { provider: { audio: { id: "a" } } },
];

test.each([
  "tool_calls",
  "tool-calls",
  "function_call",
  "MALFORMED_FUNCTION_CALL",
  "function_call_filter: MALFORMED_FUNCTION_CALL",
  "insufficient_system_resource",
  "UNEXPECTED_TOOL_CALL",
  "OTHER",
  "unknown",
  "null",
  "incomplete",
  "",
  null,
])("an answer that has nothing and ends with %j failed, and may be tried again", (reason) => {
  for (const reply of [...nothing, thought])
    expect(nothingSaid(reply, reason)).toMatchObject({ kind: "unknown", retryable: true });
  for (const reply of something) expect(nothingSaid(reply, reason)).toBeNull();
});

test.each(["stop", "end_turn", "STOP", "stop_sequence", "eos"])(
  "an answer that has nothing and ends with %j may be meant",
  (reason) => {
    for (const reply of [...nothing, ...something]) expect(nothingSaid(reply, reason)).toBeNull();
    expect(nothingSaid(thought, reason)).toMatchObject({ retryable: true });
  },
);

test.each([
  "length",
  "max_tokens",
  "MAX_TOKENS",
  "max_output_tokens",
  "content_filter",
  "content-filter",
  "SAFETY",
  "refusal",
  "sensitive",
  "content_filter: PROHIBITED_CONTENT",
  "IMAGE_PROHIBITED_CONTENT",
])("an answer that ends with %j is incomplete, whatever it has", (reason) => {
  for (const reply of [...nothing, ...something, thought]) expect(nothingSaid(reply, reason)).toBeNull();
});

test.each(["model_context_window_exceeded", "context_length_exceeded", "model_length"])(
  "an answer that has nothing and ends with %j had a prompt that is too long",
  (reason) => {
    for (const reply of [...nothing, thought])
      expect(nothingSaid(reply, reason)).toMatchObject({ kind: "context_length", retryable: false });
    for (const reply of something) expect(nothingSaid(reply, reason)).toBeNull();
  },
);

test.each([
  ["OTHER", true],
  ["pause_turn", true],
  ["repetition", true],
  ["MODEL_ARMOR", true],
  ["FINISH_REASON_UNSPECIFIED", true],
  ["tool_calls", false],
  ["stop", false],
  ["tool_use", false],
  ["end_turn", false],
  ["im_end", false],
  ["", false],
  // The machine runs no calls of a truncated reply.
  ["length", false],
])("a call before the reason %j fails and is asked for again: %s", (reason, isUnclear) => {
  const outcomes = ["", "{}"].map((written) => {
    const reply = Either.right<string, ReplyDraft>({ toolCalls: [{ id: "a", name: "wipe", arguments: written }] });
    return outcomeOf({ reply, finishReason: reason, facts: {} }, () => ({ content: undefined, usage: undefined })).type;
  });
  expect(outcomes).toEqual(isUnclear ? ["failed", "failed"] : ["completed", "completed"]);
});

test("the pieces of a reply that came in one are its filled texts and its calls", () => {
  const texts = (["text", "reasoning", "refusal"] as const).map((type) => ({ type, text: `a ${type}` }));
  const others = [
    { type: "text", text: "" },
    { type: "image", url: "http://localhost/a.png" },
    { type: "opaque", value: { type: "file" } },
  ] as const;
  const call = { id: "a", name: "f", arguments: "{}" };
  const pieces = deltasOf({ content: [...others, ...texts], toolCalls: [call, call] });
  expect(pieces).toEqual([...texts, ...[0, 1].map((index) => ({ type: "toolCall", index, ...call }))]);
});
