// A machine with most of its options: docs/conversation.md shows it.
import { conversationMachine, fingerprintOf, type Pricing } from "@colloquy/machine";
import { lastTurns } from "@colloquy/machine/policies";

/** Charges half a cent for a thousand tokens, for every model. */
const flat: Pricing = {
  name: "flat",
  version: 1,
  options: { nanoPerToken: 5_000 },
  price: ({ inputTokens, outputTokens }) =>
    inputTokens === undefined || outputTokens === undefined
      ? null
      : { nano: (inputTokens + outputTokens) * 5_000, currency: "USD" },
};

const machine = conversationMachine({
  model: { model: "gpt-4o-mini", temperature: 0 },
  policy: lastTurns(20),
  overlap: { type: "queue", max: 3 },
  limits: { steps: 8, toolCalls: 20, costNano: 50_000_000, deadlineMs: 120_000 },
  retry: { attempts: 4, baseDelayMs: 1_000 },
  idleTimeoutMs: 30_000,
  pricing: flat,
});

console.log(fingerprintOf(machine));
