import type { ExpectedOutput, OutputIssue } from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary } from "./json.ts";
import { recordOf } from "./record.ts";
import { nameArbitrary, textArbitrary } from "./text.ts";

/** The expected output of an ask, with zero to two repairs. */
export const expectedOutputArbitrary: fc.Arbitrary<ExpectedOutput> = recordOf({
  name: fc.constantFrom("answer", "report"),
  schema: jsonObjectArbitrary,
  mode: fc.constantFrom("native", "tool", "prompted"),
  repairs: fc.constantFrom(2, 1, 0),
});

/** The issues of an invalid answer. */
export const issuesArbitrary: fc.Arbitrary<readonly OutputIssue[]> = fc.array(
  recordOf(
    { message: textArbitrary },
    { path: fc.array(fc.oneof(nameArbitrary, fc.nat({ max: 9 })), { maxLength: 2 }) },
  ),
  { maxLength: 3 },
);
