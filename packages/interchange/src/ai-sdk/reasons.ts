import type { Part } from "@colloquy/machine";
import type { Reasons } from "../exchange/export-losses.ts";
import { isForeign } from "../exchange/foreign.ts";

/** The reasons why the AI SDK cannot hold some fields and parts. */
export const aiReasons: Reasons = {
  outcomes: true,
  callId: "each call has an id here, which no other call beside it has",
  field: () => "the AI SDK has no place for it that an import could read it from",
  part: (part: Part): string => {
    switch (part.type) {
      case "image":
        return "the AI SDK takes images by a whole URL, and not in instructions";
      case "opaque":
        return isForeign(part.value) ? "only the format that it came from has it" : "the AI SDK has no such part";
      case "toolCall":
      case "toolResult":
        return "its arguments are read in another way";
      case "text":
      case "data":
      case "reasoning":
      case "refusal":
        return "instructions are one text here, and an empty text is no content";
    }
  },
};
