import { expect } from "vitest";
import { checkPrompt, type Policy, type PolicyDecision } from "../../../src/policies.ts";
import { cutOf, inputOf, type MadeUp, shownBy } from "./made-up-history.ts";

/** Returns the decision of a policy about a conversation. */
export const decide = (policy: Policy, made: MadeUp): PolicyDecision => policy.decide(inputOf(made));

/** Returns the ids of the messages that a policy shows. */
export const shownIds = (policy: Policy, made: MadeUp): readonly string[] => idsOf(made, decide(policy, made));

/** Returns the ids of the messages that a decision shows. */
export const idsOf = (made: MadeUp, decision: Omit<PolicyDecision, "reason">): readonly string[] =>
  shownBy(made, decision).map(({ id }) => id);

/** Checks P5: with its own cut as the last one, a policy decides the same. */
export const expectIdempotent = (policy: Policy, made: MadeUp): void => {
  const first = decide(policy, made);
  const again = decide(policy, { ...made, lastCut: cutOf(first) });
  expect(cutOf(again)).toEqual(cutOf(first));
};

/** Checks P6: a larger budget keeps a superset. */
export const expectMonotone = (policy: Policy, made: MadeUp, tokens: number, more: number): void => {
  const less = shownIds(policy, { ...made, budget: { tokens, reserve: 0 } });
  const larger = shownIds(policy, { ...made, budget: { tokens: tokens + more, reserve: 0 } });
  expect(larger).toEqual(expect.arrayContaining([...less]));
};

/** Checks P1 and P2: the shown messages are well-formed, from the thread, and in its order. */
export const expectWellFormed = (policy: Policy, made: MadeUp): void => {
  const shown = shownBy(made, decide(policy, made));
  const rank = new Map(shownBy(made, { from: null }).map(({ id }, index) => [id, index]));
  const ranks = shown.filter(({ id }) => id !== "summaries").map(({ id }) => rank.get(id) ?? -1);
  expect(ranks).toEqual([...new Set(ranks)].sort((left, right) => left - right));
  expect(ranks).not.toContain(-1);
  if (shown.length > 0) expect(checkPrompt(shown)).toBeNull();
};
