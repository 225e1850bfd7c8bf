import type { Policy, PolicyDecision, PolicyInput } from "../../../src/policies.ts";

/** A policy that claims everything. */
export const policyOf = (name: string, decide: Policy["decide"], more: Partial<Policy> = {}): Policy => ({
  name,
  version: 1,
  options: {},
  monotone: true,
  stable: true,
  decide,
  ...more,
});

/** Decides what it is told to. */
export const telling = (decision: Omit<PolicyDecision, "reason">, reason = "told to"): Policy =>
  policyOf("telling", () => ({ ...decision, reason }));

/** Keeps what it is given, and shows everything. */
export const watching = (inputs: PolicyInput[]): Policy =>
  policyOf("watching", (input) => {
    inputs.push(input);
    return { from: null, reason: "watching" };
  });
