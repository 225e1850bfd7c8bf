import fc from "fast-check";
import { type Counter, countPrompt, type Policy } from "../../../src/policies.ts";
import { madeUpArbitrary } from "./made-up-arbitrary.ts";
import { characters, cutOf, inputOf, inSteps, type MadeUp, shownBy } from "./made-up-history.ts";

/** Draws conversations with a budget that may be too small, counted by message or as a whole. */
export const budgetedArbitrary: fc.Arbitrary<MadeUp> = fc
  .record({
    made: madeUpArbitrary(),
    tokens: fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 2_500 })),
    counter: fc.constantFrom<Counter>(characters, inSteps),
  })
  .map(({ made, tokens, counter }) => ({
    ...made,
    budget: { tokens: counter === inSteps ? Math.ceil(tokens / 10) : tokens, reserve: 0 },
    counter,
  }));

/** Counts the tokens of everything that can be shown. */
export const tokensOfAll = (made: MadeUp): number =>
  countPrompt(made.counter ?? characters, shownBy(made, { from: null }));

/** Returns a policy's decision, and its second decision after its own cut. */
export const decidesAgain = (policy: Policy, made: MadeUp): readonly [unknown, unknown] => {
  const first = policy.decide(inputOf(made));
  return [first, policy.decide(inputOf({ ...made, lastCut: cutOf(first) }))];
};
