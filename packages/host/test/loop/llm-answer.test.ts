// The event that answers a model call, made of what the model handler returned.
import { type CallLlm, usedNothing } from "@colloquy/machine";
import { expect, test } from "vitest";
import { type GivenOutcome, llmAnswer } from "../../src/loop/llm-run.ts";

// Only these members of a call are read.
const call = { id: "t/1.1", promptDigest: "digest" } as unknown as CallLlm;
const answered = { at: 7, effectId: "t/1.1", promptDigest: "digest" };
const shown = { content: "Half" };

const answerTo = (given: unknown, shownPart?: typeof shown): unknown =>
  // A handler in JavaScript may return anything.
  llmAnswer(call, given as GivenOutcome, 7, shownPart);

const failed = (kind: string, more: object = {}): object => ({
  type: "failed",
  failure: { kind, message: "no", retryable: true },
  ...more,
});

const completed = (reply: object, more: object = {}): object => ({
  type: "completed",
  reply,
  finishReason: "stop",
  ...more,
});

test.each<readonly [string, object, object]>([
  [
    "that is the sum of its parts",
    { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
    { inputTokens: 3, outputTokens: 4 },
  ],
  [
    "that is another one",
    { inputTokens: 3, outputTokens: 4, totalTokens: 8 },
    { inputTokens: 3, outputTokens: 4, totalTokens: 8 },
  ],
  ["without the tokens of the input", { outputTokens: 4, totalTokens: 4 }, { outputTokens: 4, totalTokens: 4 }],
  ["without the tokens of the output", { inputTokens: 3, totalTokens: 3 }, { inputTokens: 3, totalTokens: 3 }],
  ["that is left out", { inputTokens: 3, outputTokens: 4 }, { inputTokens: 3, outputTokens: 4 }],
])(
  "a reply is journalled without the total of its tokens only if that is the sum: a total %s",
  (_, usage, journalled) => {
    const event = answerTo(completed({ content: "Hi" }, { usage }));
    expect(event).toEqual({
      type: "llm.completed",
      reply: { content: "Hi" },
      finishReason: "stop",
      usage: journalled,
      ...answered,
    });
    expect(Object.isFrozen(event)).toBe(true);
  },
);

test.each(["rate_limit", "overloaded"])(
  "a call that a server refused as %s cost nothing, unless something of it arrived",
  (kind) => {
    expect(answerTo(failed(kind))).toMatchObject({ type: "llm.failed", usage: usedNothing, ...answered });
    const usage = { inputTokens: 3 };
    expect(answerTo(failed(kind, { usage }))).toMatchObject({ usage });
    expect(answerTo(failed(kind, { partial: { content: "Hal" } }))).not.toHaveProperty("usage");
    const cut = answerTo(failed(kind), shown);
    expect(cut).toMatchObject({ type: "llm.failed", partial: shown });
    expect(cut).not.toHaveProperty("usage");
  },
);

test("a call that failed otherwise cost an unknown amount", () => {
  for (const kind of ["network", "unknown"]) expect(answerTo(failed(kind))).not.toHaveProperty("usage");
});

test("a failure keeps the part of the reply that was shown, unless the handler gives one", () => {
  expect(answerTo(failed("network"), shown)).toMatchObject({ partial: shown });
  expect(answerTo(failed("network", { partial: { content: "Own" } }), shown)).toMatchObject({
    partial: { content: "Own" },
  });
  expect(answerTo(completed({ content: "Whole" }), shown)).not.toHaveProperty("partial");
});

const calls = [{ id: "1", name: "add", arguments: "{}" }];
const foreign = [{ id: "1", type: "function", function: { name: "add", arguments: "{}" } }];

test.each([
  ["only", { tool_calls: foreign }],
  ["beside an empty list of our own", { tool_calls: foreign, toolCalls: [] }],
])("a reply with calls in the chat format, %s, fails the call, since they would be lost", (_, reply) => {
  const message: unknown = expect.stringContaining('"tool_calls" is the chat');
  expect(answerTo(completed(reply), shown)).toMatchObject({
    type: "llm.failed",
    failure: { kind: "unknown", retryable: false, message },
    partial: shown,
  });
});

test("a reply with calls in our own format is taken, whether or not it has them in the chat format as well", () => {
  for (const reply of [{ toolCalls: calls }, { tool_calls: foreign, toolCalls: calls }])
    expect(answerTo(completed(reply))).toMatchObject({ type: "llm.completed", reply: { toolCalls: calls } });
});

test.each<readonly [string, unknown, RegExp]>([
  ["no members", {}, /can't be used: /],
  ["a reply that is a number", { type: "completed", reply: 7, finishReason: "stop" }, /can't be used: .*reply/],
  [
    "a finish reason that is a number",
    completed({ content: "sk-secret" }, { finishReason: 7 }),
    /can't be used: finishReason/,
  ],
  ["a failure without a kind", { type: "failed", failure: { message: "sk-secret" } }, /can't be used: failure/],
  ["a failure that is null", { type: "failed", failure: null }, /can't be used: failure/],
])("an outcome with %s fails the call, and its values are not quoted", (_, given, message) => {
  const event = answerTo(given);
  expect(event).toMatchObject({
    type: "llm.failed",
    failure: { kind: "unknown", retryable: false, message: expect.stringMatching(message) as string },
    ...answered,
  });
  expect(JSON.stringify(event)).not.toMatch(/sk-secret|, got /);
});
