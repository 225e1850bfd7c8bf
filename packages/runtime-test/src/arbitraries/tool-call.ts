import type { ToolCallDraft } from "@colloquy/machine";
import fc from "fast-check";
import { jsonObjectArbitrary } from "./json.ts";
import { recordOf } from "./record.ts";
import { nameArbitrary } from "./text.ts";

/** The names of the tools that a model was offered. */
export type ToolNames = readonly string[];

/**
 * Returns an arbitrary of tool calls as a model writes them. The id is one of very few or null, since providers repeat
 * ids. The name is sometimes undeclared; the arguments are sometimes not JSON, or empty.
 */
export const toolCallDraftArbitrary = (tools: ToolNames): fc.Arbitrary<ToolCallDraft> =>
  recordOf(
    {
      id: fc.constantFrom("call_0", "call_0", "call_1", "", null),
      name:
        tools.length === 0
          ? nameArbitrary
          : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...tools) }, nameArbitrary),
      arguments: fc.oneof(
        jsonObjectArbitrary.map((value) => JSON.stringify(value)),
        fc.constantFrom("", "{", "null", "[]", '{"city":"Par', "\ud800"),
      ),
    },
    { provider: jsonObjectArbitrary },
  );
