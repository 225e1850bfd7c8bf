import { conversationMachine, type Event, start } from "@colloquy/machine";
import { configurationOfMachine } from "@colloquy/machine/hosting";
import { estimateCounter, type Policy, tokenWindow } from "@colloquy/machine/policies";
import {
  composedPolicyArbitrary,
  plainPolicyArbitraries,
  summarisingPolicyArbitraries,
} from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { policyFunctions, policyNameOf } from "../../packages/machine/test/prompt/policies/shipped-policies.ts";
import { randomOf } from "../../proof/kit/random.ts";
import { checkConversation } from "../../proof/policies/check.ts";
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

describe("a window that fills its room", () => {
  const said = Array.from({ length: 12 }, (_, index): readonly Event[] => [
    { type: "ask.received", at: 1, askId: `ask-${index}`, input: `Question ${index}, in a few words more?` },
    {
      type: "llm.completed",
      at: 2,
      effectId: `t/${index + 1}.1#1`,
      reply: { content: `Answer ${index}.` },
      finishReason: "stop",
    },
  ]);
  const conversation = {
    id: "said",
    variant: "as recorded",
    started: start(conversationMachine(), { threadId: "t", at: 0 }),
    events: said.flat(),
    interrupted: "keep",
  } as const;
  const lawsBrokenBy = (policy: Policy): readonly string[] =>
    checkConversation(
      conversation,
      { name: policy.name, policy, counter: estimateCounter, fits: true, fillsRoom: true },
      { tokens: 150, states: 4, share: 0.5 },
    ).violations.map(({ law }) => law);

  test("breaks no law", () => {
    expect(lawsBrokenBy(tokenWindow())).toEqual([]);
  });

  test("breaks one if it leaves out the oldest unit that it could show", () => {
    const whole = tokenWindow();
    const decide: Policy["decide"] = (input) => {
      const decision = whole.decide(input);
      const units = [...input.history.newestFirst()].flatMap((turn) => turn.units());
      const kept = units.filter(({ turn }) => decision.from === null || turn >= decision.from.turn);
      const oldest = kept.at(-1);
      return decision.from === null || oldest === undefined ? decision : { ...decision, dropped: [oldest.id] };
    };
    expect(lawsBrokenBy({ ...whole, newestFirst: false, decide })).toContain("P11");
  });
});
