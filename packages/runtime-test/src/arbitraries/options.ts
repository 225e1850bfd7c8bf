import type { Budget, MachineOptions, Pricing, Retry } from "@colloquy/machine";
import { type Counter, countPrompt, estimateCounter } from "@colloquy/machine/policies";
import fc from "fast-check";
import { jsonObjectArbitrary, recordOf } from "./values.ts";
import { failureKinds, limitsArbitrary, overlapArbitrary, toolsArbitrary } from "./message.ts";
import { policyArbitrary } from "./policy.ts";

/** The budget of a prompt: nothing, too little for most messages, a few turns, more than enough, or no limit. */
export const budgetArbitrary: fc.Arbitrary<Budget | null> = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.constantFrom(0, 1, 20) },
      { weight: 3, arbitrary: fc.integer({ min: 40, max: 300 }) },
      { weight: 3, arbitrary: fc.integer({ min: 300, max: 3_000 }) },
      { weight: 1, arbitrary: fc.constant(128_000) },
    ),
    fc.constantFrom(0, 0, 0.2, 1),
  )
  .map(([tokens, share]) => (tokens === null ? null : { tokens, reserve: Math.floor(tokens * share) }));

/** A counter whose prompts cost more than the sum of their messages: its template grows with each message. */
export const templateCounter: Counter = {
  ...estimateCounter,
  name: "template",
  countPrompt: (messages) => {
    const { countPrompt: _, ...additive } = templateCounter;
    return countPrompt(additive, messages) + 5 + Math.floor(messages.length ** 1.5);
  },
};

/** The options of a machine: any of them, each at its default sometimes, limits of 0 included. */
export const machineOptionsArbitrary: fc.Arbitrary<MachineOptions> = recordOf(
  {},
  {
    tools: toolsArbitrary,
    policy: policyArbitrary,
    counter: fc.constantFrom(...counters()),
    budget: budgetArbitrary,
    calibrate: fc.boolean(),
    warnAt: fc.constantFrom(0, 0.5, 0.8, 1),
    limits: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, limitsArbitrary),
    overlap: overlapArbitrary,
    model: jsonObjectArbitrary,
    retry: retryArbitrary(),
    interrupted: fc.constantFrom("keep", "omit"),
    unknownTool: fc.constantFrom("result", "ask"),
    idleTimeoutMs: fc.integer({ min: 1, max: 60_000 }),
    pricing: fc.integer({ min: 0, max: 3 }).map(pricingOf),
  },
);

/** Returns counters of which some are valid and some break the counter's contract. */
function counters(): readonly Counter[] {
  const nameless = { version: 1, options: {}, perMessage: 0, perPrompt: 0 };
  return [
    estimateCounter,
    templateCounter,
    { ...nameless, name: "not-a-number", countPart: () => Number.NaN },
    {
      ...nameless,
      name: "throws",
      countPart: () => {
        throw new RangeError("a special token");
      },
    },
  ];
}

function retryArbitrary(): fc.Arbitrary<Partial<Retry>> {
  return recordOf(
    {},
    {
      attempts: fc.integer({ min: 1, max: 4 }),
      baseDelayMs: fc.constantFrom(0, 500),
      maxDelayMs: fc.constantFrom(0, 100, 30_000),
      maxRetryAfterMs: fc.constantFrom(0, 120_000),
      kinds: fc.oneof(fc.constant(failureKinds), fc.subarray([...failureKinds])),
    },
  );
}

/** Returns a pricing in one of two currencies. The price is unknown if a token count is. */
function pricingOf(nanoPerToken: number): Pricing {
  return {
    name: "per-token",
    version: 1,
    options: { nanoPerToken },
    price: ({ inputTokens, outputTokens }, model) =>
      inputTokens === undefined || outputTokens === undefined
        ? null
        : { nano: nanoPerToken * (inputTokens + outputTokens), currency: model === "other" ? "EUR" : "USD" },
  };
}
