import type { Event } from "@colloquy/machine";
import fc from "fast-check";
import { atArbitrary, calledTools, only } from "./event-parts.ts";
import { jsonArbitrary } from "./json.ts";
import { contentArbitrary } from "./message.ts";
import { failureArbitrary, reportedUsageArbitrary, toolOutcomeArbitrary } from "./outcome.ts";
import { partialArbitrary, replyArbitrary } from "./reply.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";

type OutcomeEvent =
  | "llm.completed"
  | "llm.failed"
  | "llm.progressed"
  | "tool.started"
  | "tool.withheld"
  | "approval.answered"
  | "tool.completed"
  | "tool.failed";

type ByType<Types extends OutcomeEvent> = { readonly [Type in Types]: fc.Arbitrary<Extract<Event, { type: Type }>> };

/** Answers to any effect, of any kind. */
export const outcomeEventArbitraries = (effectId: fc.Arbitrary<string>): ByType<OutcomeEvent> => ({
  ...modelOutcomes(effectId),
  ...toolOutcomes(effectId),
});

type ModelOutcome = "llm.completed" | "llm.failed" | "llm.progressed";

const modelOutcomes = (effectId: fc.Arbitrary<string>): ByType<ModelOutcome> => ({
  "llm.completed": fc.record(
    {
      type: fc.constant("llm.completed" as const),
      at: atArbitrary,
      effectId,
      reply: replyArbitrary(calledTools),
      finishReason: fc.option(nameArbitrary),
      usage: reportedUsageArbitrary,
      promptDigest: nameArbitrary,
      model: fc.constantFrom("model-1", "other"),
      responseId: nameArbitrary,
    },
    only("type", "at", "effectId", "reply", "finishReason"),
  ),
  "llm.failed": fc.record(
    {
      type: fc.constant("llm.failed" as const),
      at: atArbitrary,
      effectId,
      failure: failureArbitrary,
      partial: partialArbitrary,
      usage: reportedUsageArbitrary,
      promptDigest: nameArbitrary,
      model: fc.constantFrom("model-1", "other"),
    },
    only("type", "at", "effectId", "failure"),
  ),
  "llm.progressed": fc.record(
    {
      type: fc.constant("llm.progressed" as const),
      at: atArbitrary,
      effectId,
      partial: partialArbitrary,
      again: fc.constant(true as const),
    },
    only("type", "at", "effectId", "partial"),
  ),
});

const toolOutcomes = (effectId: fc.Arbitrary<string>): ByType<Exclude<OutcomeEvent, ModelOutcome>> => ({
  "tool.started": fc.record(
    { type: fc.constant("tool.started" as const), at: atArbitrary, effectId },
    only("type", "at", "effectId"),
  ),
  "tool.withheld": fc.record(
    {
      type: fc.constant("tool.withheld" as const),
      at: atArbitrary,
      effectId,
      because: fc.constantFrom("declared" as const, "unknown_outcome" as const),
      version: fc.constantFrom("1", "2.0.1"),
      arguments: jsonArbitrary,
    },
    only("type", "at", "effectId", "because", "arguments"),
  ),
  "approval.answered": fc.record(
    {
      type: fc.constant("approval.answered" as const),
      at: atArbitrary,
      effectId,
      approved: fc.boolean(),
      digest: nameArbitrary,
      reason: textArbitrary,
      by: nameArbitrary,
    },
    only("type", "at", "effectId", "approved"),
  ),
  "tool.completed": fc.record(
    { type: fc.constant("tool.completed" as const), at: atArbitrary, effectId, content: fc.option(contentArbitrary) },
    only("type", "at", "effectId", "content"),
  ),
  "tool.failed": fc.record(
    {
      type: fc.constant("tool.failed" as const),
      at: atArbitrary,
      effectId,
      outcome: toolOutcomeArbitrary,
      content: contentArbitrary,
    },
    only("type", "at", "effectId", "outcome", "content"),
  ),
});
