import { tool, type Tool, type ToolDefinition } from "@colloquy/host";
import type { JsonObject } from "@colloquy/machine";

const parameters = {
  type: "object",
  properties: { about: { type: "string" } },
  required: ["about"],
  additionalProperties: false,
};

const simulated = (
  name: string,
  options: Pick<
    ToolDefinition<{ readonly jsonSchema: JsonObject }>,
    "recovery" | "approval" | "timeoutMs" | "concurrency"
  >,
  found = "",
): Tool =>
  tool({
    name,
    description: `Does what "${name}" stands for.`,
    input: { jsonSchema: parameters },
    ...options,
    run: (_, { idempotencyKey }) => `${name} of ${idempotencyKey}${found}`,
  });

/** One of each kind of recovery, one that has to be approved always, and one that has to be for some things, and one that is impatient, does one thing at a time, and finds more than a prompt may like. */
export const simulatedTools: readonly Tool[] = [
  simulated("lookup", { recovery: "rerun" }),
  simulated("note", {}),
  simulated("pay", { recovery: "once" }),
  simulated("ship", { recovery: "ask" }),
  simulated("post", { recovery: "once", approval: "always" }),
  simulated("mail", { approval: (input) => JSON.stringify(input).includes("thing 1") }),
  simulated("search", { recovery: "rerun", timeoutMs: 60, concurrency: 1 }, `: ${"page after page ".repeat(20)}`),
];
