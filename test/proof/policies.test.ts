import { conversationMachine } from "@colloquy/machine";
import { configurationOfMachine } from "@colloquy/machine/hosting";
import type { Policy } from "@colloquy/machine/policies";
import {
  composedPolicyArbitrary,
  plainPolicyArbitraries,
  summarisingPolicyArbitraries,
} from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { policyFunctions, policyNameOf } from "../../packages/machine/test/prompt/policies/shipped-policies.ts";
import { randomOf } from "../../proof/kit/random.ts";
import { subjectsOf } from "../../proof/policies/subjects.ts";
import { dataOf, machineOf } from "../../proof/vectors/machine.ts";

const drawn: { readonly [name: string]: fc.Arbitrary<Policy> } = {
  ...plainPolicyArbitraries,
  ...summarisingPolicyArbitraries,
  compose: composedPolicyArbitrary,
};

const arbitraryOf = (name: string): fc.Arbitrary<Policy> => {
  const arbitrary = drawn[name];
  if (arbitrary === undefined) throw new Error(`${name} is not drawn for the laws`);
  return arbitrary;
};

test("the policies that are shipped are found", () => {
  expect(policyFunctions).toContain("lastTurns");
  expect(policyFunctions.length).toBeGreaterThan(10);
});

describe.each(policyFunctions)("%s, which is shipped,", (name) => {
  test("is drawn for the laws, by packages/runtime-test/src/arbitraries/shipped-policy.ts", () => {
    expect(Object.keys(drawn)).toContain(name);
  });

  test("is checked on recorded conversations, by proof/policies/subjects.ts", () => {
    const checked = subjectsOf(randomOf(1)).map(({ policy }) => policy.name);
    expect(checked).toContain(policyNameOf(name));
  });

  test("is made again from what a vector says of it, by proof/vectors/machine.ts", () => {
    fc.assert(
      fc.property(arbitraryOf(name), (policy) => {
        expect(policy.name).toBe(policyNameOf(name));
        const made = machineOf(dataOf({ policy }));
        expect(configurationOfMachine(made)).toEqual(configurationOfMachine(conversationMachine({ policy })));
      }),
    );
  });
});
