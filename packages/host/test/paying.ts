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

/** A tool that needs approval, and the inputs of its runs. */
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

/** Rounds the amount in the arguments down. */
export const rounding = (to: number): ToolInput => ({
  "~standard": {
    version: 1,
    vendor: "test",
    jsonSchema: { input: () => ({}) },
    // These tests pass amounts.
    validate: (value) => ({ value: { amount: Math.floor((value as { readonly amount: number }).amount / to) * to } }),
  },
});
