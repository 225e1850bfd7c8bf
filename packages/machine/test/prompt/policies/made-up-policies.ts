import type { Policy, PolicyDecision, PolicyInput } from "../../../src/policies.ts";

/** Makes a policy that declares everything. */
export const policyOf = (name: string, decide: Policy["decide"], more: Partial<Policy> = {}): Policy => ({
  name,
  version: 1,
  options: {},
  monotone: true,
  stable: true,
  decide,
  ...more,
});

/** Makes a policy with a fixed decision. */
export const telling = (decision: Omit<PolicyDecision, "reason">, reason = "told to"): Policy =>
  policyOf("telling", () => ({ ...decision, reason }));

/** Makes a policy that records its inputs, and shows everything. */
export const watching = (inputs: PolicyInput[]): Policy =>
  policyOf("watching", (input) => {
    inputs.push(input);
    return { from: null, reason: "watching" };
  });
