import type { Failure, FailureKind, LimitName, Limits, ReportedUsage, ToolFailed } from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary } from "./json.ts";
import { recordOf } from "./record.ts";
import { textArbitrary } from "./text.ts";

/** All kinds of failure. */
export const failureKinds: readonly FailureKind[] = [
  "rate_limit",
  "overloaded",
  "auth",
  "bad_request",
  "context_length",
  "content_filter",
  "timeout",
  "network",
  "truncated",
  "unknown",
];

/** The failure of a model call: any kind, retryable or not, with or without a wait that the server asked for. */
export const failureArbitrary: fc.Arbitrary<Failure> = recordOf(
  { kind: fc.constantFrom(...failureKinds), message: textArbitrary, retryable: fc.constantFrom(true, true, false) },
  {
    retryAfterMs: fc.constantFrom(0, 1, 1_500, 120_000, 120_001),
    status: fc.constantFrom(400, 401, 429, 500, 529),
    code: fc.constantFrom("rate_limit_exceeded", "insufficient_quota"),
  },
);

/** The usage that a provider reports for a call: any of the fields missing, zeros among the others. */
export const reportedUsageArbitrary: fc.Arbitrary<ReportedUsage> = recordOf(
  {},
  {
    inputTokens: fc.nat({ max: 2_000 }),
    outputTokens: fc.nat({ max: 500 }),
    totalTokens: fc.nat({ max: 2_500 }),
    cacheReadTokens: fc.nat({ max: 1_000 }),
    cacheWriteTokens: fc.nat({ max: 1_000 }),
    reasoningTokens: fc.nat({ max: 400 }),
    provider: jsonObjectArbitrary,
  },
);

/** The outcome of a tool call that did not complete. */
export const toolOutcomeArbitrary: fc.Arbitrary<ToolFailed["outcome"]> = fc.constantFrom(
  "failed",
  "refused",
  "interrupted",
  "unknown",
);

export const limitNames: readonly LimitName[] = ["steps", "toolCalls", "tokens", "costNano", "deadlineMs"];

/** Limits that mostly a few steps can reach, sometimes 0. */
export const limitsArbitrary: fc.Arbitrary<Limits> = recordOf(
  {},
  {
    steps: fc.constantFrom(10, 2, 3, 1, 10, 5, 4, 0),
    toolCalls: fc.constantFrom(20, 5, 2, 10, 20, 3, 1, 0),
    tokens: fc.constantFrom(100_000, 20_000, 3_000, 1_000, 100_000, 5_000, 1, 0),
    costNano: fc.constantFrom(1_000_000, 5_000, 1_000_000, 10_000, 1_000_000, 2_000, 1, 0),
    deadlineMs: fc.constantFrom(600_000, 30_000, 600_000, 5_000, 600_000, 60_000, 1, 0),
  },
);
