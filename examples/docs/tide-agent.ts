// Today's agent. The regression tests find its changes.
import type { ToolDeclaration } from "@colloquy/machine";

export const system = "You answer questions about the tide, briefly.";

export const tide: ToolDeclaration = {
  name: "tide",
  description: "The next high tide at a place.",
  parameters: { type: "object", properties: { place: { type: "string" } }, required: ["place"] },
};
