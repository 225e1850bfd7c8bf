import { contentWords } from "../thread/content-text.ts";
import type { Message, Part } from "../thread/message.ts";

/** What a message says, in one text for a person: tool calls as they would be written, results behind an arrow. */
export const messageWords = ({ parts }: Message): string => parts.map(partWords).join(" ");

const partWords = (part: Part): string => {
  switch (part.type) {
    case "toolCall":
      return `${part.name}(${part.arguments})`;
    case "toolResult":
      return `-> ${part.content.map(contentWords).join(" ")}`;
    case "reasoning":
    case "refusal":
      return part.text;
    default:
      return contentWords(part);
  }
};
