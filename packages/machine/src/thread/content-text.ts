import type { Part } from "./message.ts";

/** What parts say, for a reader: texts as they are, data by their fields, a word in place of what is no text. Calls, results and reasoning are left aside. */
export const contentText = (parts: readonly Part[]): string =>
  parts
    .flatMap((part) => {
      switch (part.type) {
        case "text":
        case "refusal":
          return part.text;
        case "data":
          return `${part.field}: ${typeof part.value === "string" ? part.value : JSON.stringify(part.value)}`;
        case "image":
          return "[image]";
        case "opaque":
          return "[attachment]";
        case "reasoning":
        case "toolCall":
        case "toolResult":
          return [];
      }
    })
    .join("\n");
