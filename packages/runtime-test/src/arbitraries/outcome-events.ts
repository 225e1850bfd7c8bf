import fc from "fast-check";
import { type ByType, calledTools, eventOf } from "./event-parts.ts";
import { jsonArbitrary } from "./json.ts";
import { issuesArbitrary } from "./output.ts";
import { contentArbitrary } from "./message.ts";
import { failureArbitrary, reportedUsageArbitrary, toolOutcomeArbitrary } from "./outcome.ts";
import { partialArbitrary, replyArbitrary } from "./reply.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";

type OutcomeEvent =
  | "llm.completed"
  | "llm.failed"
  | "llm.progressed"
  | "output.accepted"
  | "output.refused"
  | "tool.started"
  | "tool.withheld"
  | "approval.answered"
  | "tool.completed"
  | "tool.failed";

/** Returns arbitraries of answers of every kind, to any effect. */
export const outcomeEventArbitraries = (effectId: fc.Arbitrary<string>): ByType<OutcomeEvent> => {
  const model = fc.constantFrom("model-1", "other");
  const [usage, promptDigest, partial] = [reportedUsageArbitrary, nameArbitrary, partialArbitrary];
  return {
    "llm.completed": eventOf(
      "llm.completed",
      { effectId, reply: replyArbitrary(calledTools), finishReason: fc.option(nameArbitrary) },
      { usage, promptDigest, model, responseId: nameArbitrary },
    ),
    "llm.failed": eventOf(
      "llm.failed",
      { effectId, failure: failureArbitrary },
      { partial, usage, promptDigest, model },
    ),
    "llm.progressed": eventOf("llm.progressed", { effectId, partial }, { again: fc.constant(true as const) }),
    "output.accepted": eventOf("output.accepted", { effectId, value: jsonArbitrary }),
    "output.refused": eventOf(
      "output.refused",
      { effectId, issues: issuesArbitrary },
      { checkFailed: fc.constant(true as const) },
    ),
    "tool.started": eventOf("tool.started", { effectId }),
    "tool.withheld": eventOf(
      "tool.withheld",
      {
        effectId,
        because: fc.constantFrom("declared" as const, "unknown_outcome" as const),
        arguments: jsonArbitrary,
      },
      { version: fc.constantFrom("1", "2.0.1") },
    ),
    "approval.answered": eventOf(
      "approval.answered",
      { effectId, approved: fc.boolean() },
      { digest: nameArbitrary, reason: textArbitrary, by: nameArbitrary },
    ),
    "tool.completed": eventOf("tool.completed", { effectId, content: fc.option(contentArbitrary) }),
    "tool.failed": eventOf("tool.failed", { effectId, outcome: toolOutcomeArbitrary, content: contentArbitrary }),
  };
};
