import { tool } from "@colloquy/host";
import type { ToolDefinition, ToolInput } from "@colloquy/host";
import { calls, says, stage, type Stage, type StageOptions } from "./stage.ts";

const amount = {
  jsonSchema: {
    type: "object",
    properties: { amount: { type: "integer" } },
    required: ["amount"],
    additionalProperties: false,
  },
};

/** A tool that needs approval, and what it was run with. */
export const paying = (definition: Partial<ToolDefinition<ToolInput>> = {}) => {
  const runs: { readonly input: unknown; readonly key: string }[] = [];
  const pay = tool({
    name: "pay",
    description: "Pays.",
    input: amount,
    approval: "always",
    run: (input, { idempotencyKey }) => {
      runs.push({ input, key: idempotencyKey });
      return "paid";
    },
    ...definition,
  });
  return { runs, pay };
};

export const asking = (options: StageOptions): Stage =>
  stage({ script: [calls(["pay", { amount: 5 }]), says("done")], ...options });

/** Arguments whose amount is rounded down. */
export const rounding = (to: number): ToolInput => ({
  "~standard": {
    version: 1,
    vendor: "test",
    jsonSchema: { input: () => ({}) },
    // These tests send amounts.
    validate: (value) => ({ value: { amount: Math.floor((value as { readonly amount: number }).amount / to) * to } }),
  },
});
