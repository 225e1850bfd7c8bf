import type { ToolDeclaration } from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary } from "./json.ts";
import { recordOf } from "./record.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";

/** The declaration of a tool. */
export const toolDeclarationArbitrary: fc.Arbitrary<ToolDeclaration> = recordOf(
  { name: nameArbitrary },
  {
    version: fc.constantFrom("1", "2.0.1"),
    description: textArbitrary,
    parameters: jsonObjectArbitrary,
    recovery: fc.constantFrom("rerun", "interrupted", "once", "ask"),
    approval: fc.constantFrom("always", "conditional"),
    timeoutMs: fc.nat({ max: 60_000 }),
    concurrency: fc.integer({ min: 1, max: 4 }),
  },
);

/** Tools with different names. */
export const toolsArbitrary: fc.Arbitrary<readonly ToolDeclaration[]> = fc.uniqueArray(toolDeclarationArbitrary, {
  selector: ({ name }) => name,
  maxLength: 3,
});
