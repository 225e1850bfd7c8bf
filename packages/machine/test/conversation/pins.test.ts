import { hostilePolicies, stateArbitrary } from "@colloquy/runtime-test/arbitraries";
import fc from "fast-check";
import { expect, test } from "vitest";
import { conversationMachine, messagesOf, promptOf, transition } from "../../src/index.ts";
import { checkPrompt, keepAll, lastTurns, type Policy, type PolicyDecision } from "../../src/policies.ts";
import { runs } from "../runs.ts";

// Pinned content is whole in every prompt while it is on the path, despite any policy or budget.

const deciding = (name: string, decision: Omit<PolicyDecision, "reason">): Policy => ({
  ...keepAll(),
  name,
  decide: () => ({ ...decision, reason: name }),
});
const afterAll = { turn: Number.MAX_SAFE_INTEGER, unit: 0 };

/** Policies that would not show turn 1. */
const hiding: readonly Policy[] = [
  lastTurns(0),
  deciding("none", { from: afterAll }),
  deciding("dropping", { from: null, dropped: ["1.0", "1.1", "1.2"] }),
  deciding("summarised", { from: afterAll, summarised: { from: 1, to: 1 } }),
  deciding("shrunk", { from: null, shrink: [{ rule: "headAndTail", of: "messages", characters: 200 }] }),
  deciding("cleared", {
    from: null,
    shrink: [{ rule: "clear", of: "messages", characters: 200, before: afterAll }],
  }),
];

test("any message of any thread, once pinned, is whole in the next prompt, under any policy", () => {
  const policies = [...hostilePolicies(), ...hiding];
  const property = fc.property(
    stateArbitrary(),
    fc.constantFrom(...policies),
    fc.constantFrom("keep", "omit"),
    fc.nat(),
    (state, policy, interrupted, pick) => {
      const messages = messagesOf(state);
      const message = messages[pick % Math.max(1, messages.length)];
      fc.pre(message !== undefined);
      const machine = conversationMachine({ policy, interrupted });
      const event = { type: "message.pinned", at: state.context.updatedAt, message: message.id, pinned: true } as const;
      const pinned = transition(machine, state, event);
      expect(pinned.handled).toBe(true);
      const prompt = promptOf(machine, pinned.state).messages;
      expect(prompt).toContainEqual(message);
      expect(checkPrompt(prompt)).toBeNull();
    },
  );
  fc.assert(property, { numRuns: runs(300) });
});
