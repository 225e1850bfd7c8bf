import { fc, test } from "@fast-check/vitest";
import type { JsonObject } from "@colloquy/machine";
import {
  type CanonicalMessage,
  canonicalOf,
  type RecordedChatCase,
  type RecordedStep,
  sha256OfMessages,
} from "@colloquy/runtime-test/recordings";
import { expect } from "vitest";
import "@colloquy/runtime-test/vitest";
import { runs } from "../../../../test/runs.ts";

const content = fc.constantFrom("hello", "", 'a\n"b" ⛴', " ");

/** Draws calls whose ids a provider repeats or omits. */
const call = fc.record({
  id: fc.constantFrom("call_1", "call_2", "", null),
  function: fc.record({ name: fc.constantFrom("wind", "waves"), arguments: fc.constantFrom("{}", "", '{ "at": 1 }') }),
});

/** Draws a round that the client inserted, whose ids may be those of another. */
const round = fc
  .record({ content, calls: fc.array(call, { minLength: 1, maxLength: 2 }), result: content })
  .map(({ content: text, calls, result }): readonly RecordedStep[] => [
    { type: "message", message: canonicalOf({ role: "assistant", content: text, tool_calls: calls }) },
    ...calls.map(({ id }) => ({ type: "tool" as const, tool_call_id: id, content: result })),
  ]);

const said = fc.oneof(
  fc.record({ type: fc.constant("user" as const), content }).map((step): readonly RecordedStep[] => [step]),
  fc
    .record({
      type: fc.constant("message" as const),
      message: fc.record({ role: fc.constantFrom("system", "assistant", "user"), content }).map(canonicalOf),
    })
    .map((step): readonly RecordedStep[] => [step]),
  round,
);

/** Draws a model call, the results of its calls, and the messages before the next call. */
const exchange = fc
  .record({
    content,
    calls: fc.array(call, { maxLength: 3 }),
    result: content,
    afterwards: fc.array(said, { maxLength: 2 }),
    usage: fc.option(fc.record({ prompt_tokens: fc.nat(99), completion_tokens: fc.nat(99), total_tokens: fc.nat(99) })),
  })
  .map(({ content: text, calls, result, afterwards, usage }): readonly RecordedStep[] => [
    { type: "llm", message: { content: text, tool_calls: calls }, finish_reason: "stop", usage },
    ...calls.map(({ id }) => ({ type: "tool" as const, tool_call_id: id, content: result })),
    ...afterwards.flat(),
  ]);

const conversation = fc
  .record({
    system: fc.option(content),
    seed: fc.array(fc.record({ role: fc.constantFrom("user", "assistant"), content }).map(canonicalOf), {
      maxLength: 2,
    }),
    first: content,
    exchanges: fc.array(exchange, { minLength: 1, maxLength: 6 }),
  })
  .map(({ system, seed, first, exchanges }) =>
    recordedOf(system, seed, [{ type: "user", content: first }, ...exchanges.flat()]),
  );

test.prop([conversation], { numRuns: runs(600) })(
  "whatever a client did within the protocol, it replays",
  (recorded) => {
    expect(recorded).toReplayCase();
  },
);

/** Returns the expected outcome, computed without a machine. */
const recordedOf = (
  system: string | null,
  seed: readonly CanonicalMessage[],
  steps: readonly RecordedStep[],
): RecordedChatCase => {
  const messages = [...(system === null ? [] : [canonicalOf({ role: "system", content: system })]), ...seed];
  const calls: RecordedChatCase["expect"]["calls"][number][] = [];
  const of = <Type extends RecordedStep["type"]>(type: Type): readonly Extract<RecordedStep, { type: Type }>[] =>
    steps.filter((step): step is Extract<RecordedStep, { type: Type }> => step.type === type);
  for (const step of steps) {
    if (step.type === "llm") calls.push({ messages: messages.length, sha256: sha256OfMessages(messages) });
    messages.push(canonicalOf(wireOf(step)));
  }
  return {
    id: "any",
    tags: [],
    system,
    seed,
    steps,
    expect: {
      calls,
      llm_calls: calls.length,
      tool_calls: of("llm").reduce((count, { message }) => count + lengthOf(message["tool_calls"]), 0),
      tool_results: of("tool").length,
      user_messages: of("user").length,
      messages_final: messages.length,
      final_sha256: sha256OfMessages(messages),
      finish_reasons: calls.map(() => "stop"),
      usage: Object.fromEntries(fields.map((field) => [field, sum(of("llm").map(({ usage }) => usage?.[field]))])),
    },
  };
};

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0);

const fields = ["prompt_tokens", "completion_tokens", "total_tokens"];

const sum = (values: readonly unknown[]): number =>
  values.reduce((total: number, value) => total + (typeof value === "number" ? value : 0), 0);

const wireOf = (step: RecordedStep): JsonObject => {
  switch (step.type) {
    case "user":
      return { role: "user", content: step.content };
    case "llm":
      return { ...step.message, role: "assistant" };
    case "tool":
      return { role: "tool", tool_call_id: step.tool_call_id, content: step.content };
    case "message":
      return step.message;
  }
};
