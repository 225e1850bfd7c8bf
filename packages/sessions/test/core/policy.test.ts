import { checkPolicyLaws } from "@colloquy/runtime-test/laws";
import { expect, it } from "vitest";
import type { AnyOptions } from "../../src/core/options.ts";
import { policyOf } from "../../src/core/policy.ts";

const optionsOfSessions: readonly Partial<AnyOptions>[] = [
  {},
  { maxTurns: 0 },
  { maxTurns: 2, excludeFields: ["documents"] },
  { maxStoredTurns: 3, maxTurns: 5, onlyInputFields: ["question"] },
  { compression: "concise", maxTurns: 3, excludeFields: ["documents"], onlyInputFields: ["question"] },
  { compression: { instruction: "In one word." } },
];

it.each(optionsOfSessions)("the prompts of a session keep the laws of pruning: %j", (options) => {
  const { conversations } = checkPolicyLaws(policyOf({ name: "qa", ...options }), { runs: 8, seed: 11 });
  expect(conversations).toBe(8);
});

it("windows over no turns show none", () => {
  expect(policyOf({ name: "qa", maxTurns: 3, maxStoredTurns: 0 }).options).toEqual({
    policies: [{ name: "last-turns", version: 1, options: { count: 0 } }],
  });
});
