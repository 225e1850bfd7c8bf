import { conversationMachine, type MachineOptions } from "@colloquy/machine";
import type { Policy } from "@colloquy/machine/policies";
import {
  budgetArbitrary,
  fickle,
  hostilePolicies,
  realSubject,
  scheduleFor,
  scribbling,
  whimsical,
  wilful,
} from "@colloquy/runtime-test/arbitraries";
import { deepFreeze, laws, policyLaws, runPolicy, threadIsUntouched } from "@colloquy/runtime-test/laws";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { runs } from "../runs.ts";

/** Makes a new policy for each conversation, since one of them has a memory. */
const hostile: fc.Arbitrary<() => Policy> = fc.oneof(
  { weight: 3, arbitrary: fc.nat({ max: 1_000 }).map((seed) => () => wilful(seed)) },
  { weight: 3, arbitrary: fc.nat({ max: 1_000 }).map((seed) => () => fickle(seed)) },
  { weight: 1, arbitrary: fc.nat({ max: 1_000 }).map((seed) => () => whimsical(seed)) },
  { weight: 1, arbitrary: fc.constant(scribbling) },
  { weight: 3, arbitrary: fc.constantFrom(...hostilePolicies().map((policy) => () => policy)) },
);

const base: MachineOptions = {
  tools: [{ name: "search" }, { name: "pay", recovery: "once" }],
  overlap: { type: "queue", max: 2 },
};

const plays = fc.record({
  policy: hostile,
  budget: budgetArbitrary,
  interrupted: fc.constantFrom("keep" as const, "omit" as const),
  schedule: scheduleFor(base),
});

describe("no policy, whatever it does, can break", () => {
  test("P1, P2, P3, P4, P8 and P10", () => {
    fc.assert(
      fc.property(plays, ({ policy, budget, interrupted, schedule }) => {
        const run = runPolicy({ ...base, policy: policy(), budget, interrupted }, schedule);
        for (const name of ["P1", "P2", "P3", "P4", "P8"] as const) policyLaws[name](run);
        // Of one that changes its mind no two prompts are the same, written into or not.
        if (run.policy.name === "fickle") threadIsUntouched(run);
        else policyLaws.P10(run);
      }),
      { numRuns: runs(120) },
    );
  });

  test("M10", () => {
    const frozen = { ...realSubject, transition: freezingTransition() };
    fc.assert(
      fc.property(plays, ({ policy, budget, interrupted, schedule }) => {
        laws.M10({ ...base, policy: policy(), budget: deepFreeze(budget), interrupted }, schedule, frozen);
      }),
      { numRuns: runs(60) },
    );
  });
});

test("they do get in the way: some are replaced, some are used as they are", () => {
  const failed = fc.sample(plays, { numRuns: 60, seed: 1 }).flatMap(({ policy, budget, schedule }) => {
    const { views } = runPolicy({ ...base, policy: policy(), budget }, schedule);
    return views.flatMap(({ looks }) => looks.map(({ prompt }) => prompt.failed !== undefined));
  });
  expect(failed).toContain(true);
  expect(failed).toContain(false);
});

test("every hostile policy can be configured", () => {
  for (const policy of [...hostilePolicies(), scribbling(), fickle(1), wilful(1)])
    expect(() => conversationMachine({ policy })).not.toThrow();
});

/** Freezes each state, so that a policy that writes into the host's objects fails. */
function freezingTransition(): typeof realSubject.transition {
  return (machine, state, event, options) => realSubject.transition(machine, deepFreeze(state), event, options);
}
