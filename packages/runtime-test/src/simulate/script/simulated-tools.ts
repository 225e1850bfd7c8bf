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

/**
 * One tool of each kind of recovery, one that always needs an approval, one that needs it for some arguments, and one
 * with a time limit, one call at a time and a result that may be too long for a prompt.
 */
export const simulatedTools: readonly Tool[] = [
  simulated("lookup", { recovery: "rerun" }),
  simulated("note", {}),
  simulated("pay", { recovery: "once" }),
  simulated("ship", { recovery: "ask" }),
  simulated("post", { recovery: "once", approval: "always" }),
  simulated("mail", { approval: (input) => JSON.stringify(input).includes("thing 1") }),
  simulated("search", { recovery: "rerun", timeoutMs: 60, concurrency: 1 }, `: ${"page after page ".repeat(20)}`),
];
