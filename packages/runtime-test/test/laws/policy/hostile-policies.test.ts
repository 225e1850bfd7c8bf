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

/** Functions that make a policy. Each conversation makes its own, since a fickle policy counts its calls. */
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

describe("a hostile policy", () => {
  test("keeps the laws P1, P2, P3, P4, P8 and P10", () => {
    fc.assert(
      fc.property(plays, ({ policy, budget, interrupted, schedule }) => {
        const run = runPolicy({ ...base, policy: policy(), budget, interrupted }, schedule);
        for (const name of ["P1", "P2", "P3", "P4", "P8"] as const) policyLaws[name](run);
        // The rest of P10 compares two prompts of one state. Those of a fickle policy differ even if it writes nothing.
        if (run.policy.name === "fickle") threadIsUntouched(run);
        else policyLaws.P10(run);
      }),
      { numRuns: runs(120) },
    );
  });

  test("keeps M10 on frozen states", () => {
    const frozen = { ...realSubject, transition: freezingTransition() };
    fc.assert(
      fc.property(plays, ({ policy, budget, interrupted, schedule }) => {
        laws.M10({ ...base, policy: policy(), budget: deepFreeze(budget), interrupted }, schedule, frozen);
      }),
      { numRuns: runs(60) },
    );
  });
});

test("the machine replaces hostile policies in some prompts, and uses their decisions in others", () => {
  const failed = fc.sample(plays, { numRuns: 60, seed: 1 }).flatMap(({ policy, budget, schedule }) => {
    const { views } = runPolicy({ ...base, policy: policy(), budget }, schedule);
    return views.flatMap(({ looks }) => looks.map(({ prompt }) => prompt.failed !== undefined));
  });
  expect(failed).toContain(true);
  expect(failed).toContain(false);
});

test("a machine can be made with a hostile policy", () => {
  for (const policy of [...hostilePolicies(), scribbling(), fickle(1), wilful(1)])
    expect(() => conversationMachine({ policy })).not.toThrow();
});

/** Returns a transition that freezes each state first, so that a policy that writes into it throws. */
function freezingTransition(): typeof realSubject.transition {
  return (machine, state, event, options) => realSubject.transition(machine, deepFreeze(state), event, options);
}
