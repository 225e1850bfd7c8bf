import { noUsage, type TurnOutcome, usageMonoid, usageOfCall } from "@colloquy/machine";
import { expect, test } from "vitest";
import {
  errorOf,
  type LegFacts,
  placeOfResponse,
  responseObject,
  statusOf,
  usageBetween,
} from "../../src/responses/response-object.ts";

const ask = "0123456789abcdef0123456789abcdef";

test.each([
  ["resp_3_2_t", { threadId: "t", turn: 3, leg: 2 }],
  ["resp_3_2_a_b\nc", { threadId: "a_b\nc", turn: 3, leg: 2 }],
  [`resp_${ask}_t_1`, { threadId: "t_1", askId: ask }],
  ["resp_3_t", null],
  ["resp_3_2_", null],
  [`resp_${ask}`, null],
  [`resp_${ask.toUpperCase()}_t`, null],
  ["my resp_3_2_t", null],
  ["resp_1234567890123456_2_t", null],
])("the id %j of a response names the place %j", (id, place) => {
  expect(placeOfResponse(id)).toEqual(place);
});

// Casts: only these members of an outcome are read.
const failed = (more: object): TurnOutcome => ({ status: "failed", ...more }) as TurnOutcome;
const ended = (finishReason: string): TurnOutcome => ({ status: "completed", finishReason });
const failure = (kind: string, retryable = false): TurnOutcome => failed({ failure: { kind, retryable } });
const limit = (name: string): TurnOutcome => failed({ limit: { limit: name } });
const unfit = failed({ unfit: { tokens: 900, available: 500 } });
const output = failed({ output: { kind: "repairs" } });
const cancelled = { status: "cancelled", reason: null } as TurnOutcome;

const running: LegFacts = {
  place: { threadId: "t", turn: 3, leg: 1 },
  echo: {},
  createdAt: 12_999,
  endedAt: null,
  outcome: null,
  items: [],
  usage: null,
};

test.each<readonly [string, Partial<LegFacts>, string, string | null, string | null]>([
  ["a running leg", {}, "in_progress", null, null],
  ["a queued ask", { place: { threadId: "t", askId: ask } }, "queued", null, null],
  ["a leg that waits for its caller", { endedAt: 1 }, "completed", null, null],
  ["an answer", { endedAt: 1, outcome: ended("stop") }, "completed", null, null],
  ["a cut answer", { endedAt: 1, outcome: ended("length") }, "incomplete", "max_output_tokens", null],
  ["a filtered answer", { endedAt: 1, outcome: ended("content_filter") }, "incomplete", "content_filter", null],
  ["a cancelled turn", { endedAt: 1, outcome: cancelled }, "cancelled", null, null],
  ["a refused call", { endedAt: 1, outcome: failure("content_filter") }, "incomplete", "content_filter", null],
  ["a reached limit", { endedAt: 1, outcome: limit("toolCalls") }, "incomplete", "max_toolCalls", null],
  ["a reached limit of tokens", { endedAt: 1, outcome: limit("tokens") }, "incomplete", "max_output_tokens", null],
  ["a failed call", { endedAt: 1, outcome: failure("auth") }, "failed", null, "server_error"],
  ["a call that was too much", { endedAt: 1, outcome: failure("rate_limit") }, "failed", null, "rate_limit_exceeded"],
  ["a prompt without room", { endedAt: 1, outcome: unfit }, "failed", null, "context_length_exceeded"],
  ["an answer that does not fit", { endedAt: 1, outcome: output }, "failed", null, "invalid_output"],
])("a response says how its turn stands: %s", (_, facts, status, reason, code) => {
  const whole = { ...running, ...facts };
  expect(statusOf(whole)).toBe(status);
  expect(responseObject(whole)).toMatchObject({
    status,
    incomplete_details: reason && { reason },
    error: code === null ? null : { code },
    completed_at: status === "completed" ? 0 : null,
  });
});

test.each<readonly [TurnOutcome, string, string]>([
  [failure("auth"), "server_error", "the model call failed: auth"],
  [failure("overloaded", true), "server_error", "the model call failed: overloaded; asking again may help"],
  [failure("rate_limit"), "rate_limit_exceeded", "the model call failed: rate_limit"],
  [unfit, "context_length_exceeded", "the conversation takes 900 tokens, and there is room for 500"],
  [output, "invalid_output", "no answer fitted the output that was asked for"],
  [limit("steps"), "limit_reached", "the limit of steps was reached"],
  [cancelled, "server_error", "the turn ended"],
])("a failure is described to a client without words of the provider: %j", (outcome, code, message) => {
  expect(errorOf(outcome)).toEqual({ code, message });
});

test("a response has all members, with the defaults of the Responses API, and times in seconds", () => {
  expect(responseObject(running)).toEqual({
    id: "resp_3_1_t",
    object: "response",
    created_at: 12,
    completed_at: null,
    status: "in_progress",
    incomplete_details: null,
    error: null,
    model: "",
    previous_response_id: null,
    output: [],
    usage: null,
    metadata: {},
    tools: [],
    reasoning: { effort: null, summary: null },
    text: { format: { type: "text" } },
    conversation: { id: "t" },
    instructions: null,
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    truncation: "disabled",
    tool_choice: "auto",
    parallel_tool_calls: true,
    max_output_tokens: null,
    max_tool_calls: null,
    store: true,
    background: false,
    service_tier: "default",
    safety_identifier: null,
    prompt_cache_key: null,
  });
});

test("a response repeats the members of its request, each tool and format with all of its members", () => {
  const schema = { type: "json_schema", name: "answer", schema: {} };
  const echo = {
    model: "m1",
    temperature: null,
    top_p: 0.5,
    previous_response_id: "resp_2_1_t",
    metadata: { a: "1" },
    tools: [{ type: "function", name: "look", strict: true }, 7],
    reasoning: { effort: "low" },
    text: { verbosity: "low", format: schema },
  };
  expect(responseObject({ ...running, echo })).toMatchObject({
    model: "m1",
    temperature: 1,
    top_p: 0.5,
    previous_response_id: "resp_2_1_t",
    metadata: { a: "1" },
    tools: [
      { type: "function", name: "look", description: null, parameters: null, strict: true },
      { description: null, parameters: null, strict: null },
    ],
    reasoning: { effort: "low", summary: null },
    text: { verbosity: "low", format: { ...schema, description: null, strict: false } },
  });
  const second = responseObject({ ...running, echo, place: { threadId: "t", turn: 3, leg: 2 } });
  expect(second).toMatchObject({ id: "resp_3_2_t", previous_response_id: "resp_3_1_t" });
  const odd = responseObject({ ...running, echo: { reasoning: 7, text: { format: { type: "json_object" } } } });
  expect(odd).toMatchObject({ reasoning: { effort: null }, text: { format: { type: "json_object" } } });
  expect(responseObject({ ...running, place: { threadId: "t", askId: ask } })["id"]).toBe(`resp_${ask}_t`);
});

test("the usage of a response is what its turn used since the last one, if any was reported", () => {
  const first = usageOfCall({ inputTokens: 10, outputTokens: 2 }, null);
  const second = usageOfCall(
    { inputTokens: 7, outputTokens: 3, cacheReadTokens: 4, reasoningTokens: 1, totalTokens: 10 },
    null,
  );
  const both = usageMonoid.concat(first, second);
  expect(usageBetween(first, both)).toEqual({
    input_tokens: 7,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 10,
  });
  expect(usageBetween(noUsage, usageOfCall({ outputTokens: 2 }, null))).toMatchObject({ output_tokens: 2 });
  expect(usageBetween(noUsage, usageOfCall(null, null))).toBeNull();
  expect(usageBetween(both, both)).toBeNull();
});
