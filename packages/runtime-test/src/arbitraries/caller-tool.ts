import type { CallerTool } from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary } from "./json.ts";
import { recordOf } from "./record.ts";
import { textArbitrary } from "./text.ts";

/** The names of the tools that callers pass with an ask. Replies call them whether or not they were offered. */
export const callerToolNames = ["ask_user", "pick_colour"] as const;

/** The tools of an ask: at most two from a small set, sometimes two with the same name, or one without a name. */
export const callerToolsArbitrary: fc.Arbitrary<readonly CallerTool[]> = fc.array(
  recordOf(
    { name: fc.constantFrom(...callerToolNames, ...callerToolNames, ...callerToolNames, "") },
    { description: textArbitrary, parameters: jsonObjectArbitrary },
  ),
  { minLength: 1, maxLength: 2 },
);
