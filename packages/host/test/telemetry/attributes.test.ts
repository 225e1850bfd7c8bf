import { conversationMachine, type JsonObject, start, transition } from "@colloquy/machine";
import type { SpanAttributes, SpansOptions } from "@colloquy/host/telemetry";
import { expect, test } from "vitest";
import { hrTimeOf } from "../../src/telemetry/span.ts";
import { isA, spansIn } from "./kit.ts";

/** Returns the request attributes of a span for a call with these parameters. */
const asked = (model: JsonObject, options: SpansOptions = {}): SpanAttributes => {
  const machine = conversationMachine();
  const begun = start(machine, { threadId: "t", at: 0, model });
  const step = transition(machine, begun.state, { type: "ask.received", at: 1, askId: "a", input: "Hi." });
  if (!step.handled) throw new Error(step.refusal.reason);
  const chat = spansIn([begun.entry, step.entry], { open: true, ...options }).find(isA("chat"));
  if (chat === undefined) throw new Error("there is no call");
  return chat.attributes;
};

test.each([
  ["gpt-5-mini", "openai"],
  ["openai/o3", "openai"],
  ["anthropic/claude-sonnet-4-5", "anthropic"],
  ["gemini-3-pro", "gcp.gemini"],
  ["Mixtral-8x7B", "mistral_ai"],
  ["deepseek-chat", "deepseek"],
  ["grok-4", "x_ai"],
  ["my-gpt", "unknown"],
])("%s is provided by %s, unless it is said who provides it", (model, provider) => {
  expect(asked({ model })).toMatchObject({ "gen_ai.request.model": model, "gen_ai.provider.name": provider });
  expect(asked({ model }, { provider: "azure.ai.openai" })["gen_ai.provider.name"]).toBe("azure.ai.openai");
});

test("parameters have the names of the conventions, whichever provider's they had, and their types", () => {
  const base = Object.keys(asked({}));
  const shown = (model: JsonObject): SpanAttributes =>
    Object.fromEntries(Object.entries(asked(model)).filter(([name]) => !base.includes(name)));
  const all = {
    "gen_ai.request.temperature": 0,
    "gen_ai.request.top_p": 0.9,
    "gen_ai.request.top_k": 40,
    "gen_ai.request.max_tokens": 100,
    "gen_ai.request.frequency_penalty": 1,
    "gen_ai.request.presence_penalty": -1,
    "gen_ai.request.seed": 7,
    "gen_ai.request.stop_sequences": ["END"],
    "gen_ai.request.reasoning.level": "low",
  };
  const numbers = { temperature: 0, seed: 7, reasoning_effort: "low" };
  expect(
    shown({
      ...numbers,
      top_p: 0.9,
      top_k: 40,
      max_completion_tokens: 100,
      frequency_penalty: 1,
      presence_penalty: -1,
      stop: "END",
    }),
  ).toEqual(all);
  expect(
    shown({
      ...numbers,
      topP: 0.9,
      topK: 40,
      maxOutputTokens: 100,
      frequencyPenalty: 1,
      presencePenalty: -1,
      stopSequences: ["END"],
    }),
  ).toEqual(all);
  expect(shown({ temperature: "hot", seed: null, stop: [1], reasoning_effort: { secret: "x" }, apiKey: "x" })).toEqual(
    {},
  );
});

test("a time is whole seconds and fewer nanoseconds than a second has, between 1970 and 2554", () => {
  expect([-5, 0, 0.25, 1_999.5, 1_999.999_999_9, 1e21].map(hrTimeOf)).toEqual([
    [0, 0],
    [0, 0],
    [0, 250_000],
    [1, 999_500_000],
    [1, 999_999_999],
    [18_446_744_073, 0],
  ]);
});
