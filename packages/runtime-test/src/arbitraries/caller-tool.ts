import type { CallerTool } from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary } from "./json.ts";
import { recordOf } from "./record.ts";
import { textArbitrary } from "./text.ts";

/** The tools that askers bring, by name. Replies call them whether they were offered or not. */
export const callerToolNames = ["ask_user", "pick_colour"] as const;

/** The tools of an ask: at most two of few, now and then two of one name, or one without. */
export const callerToolsArbitrary: fc.Arbitrary<readonly CallerTool[]> = fc.array(
  recordOf(
    { name: fc.constantFrom(...callerToolNames, ...callerToolNames, ...callerToolNames, "") },
    { description: textArbitrary, parameters: jsonObjectArbitrary },
  ),
  { minLength: 1, maxLength: 2 },
);
