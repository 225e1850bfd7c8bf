import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentFileSchema } from "../../src/agents/index.ts";

test("the schema for editors is that of the checks: else run pnpm agent-schema && pnpm format", () => {
  const shipped: unknown = JSON.parse(readFileSync(join(import.meta.dirname, "../../agent.schema.json"), "utf8"));
  expect(shipped).toEqual(agentFileSchema());
  expect(shipped).toMatchObject({ additionalProperties: false });
  expect(shipped).not.toHaveProperty("required");
});
