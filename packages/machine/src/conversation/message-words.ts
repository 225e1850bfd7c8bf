import type { ContentPart, Message, Part } from "../thread/message.ts";

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

const contentWords = (part: ContentPart): string => {
  switch (part.type) {
    case "text":
      return part.text;
    case "data":
      return `${part.field}: ${typeof part.value === "string" ? part.value : JSON.stringify(part.value)}`;
    case "image":
      return "[image]";
    case "opaque":
      return "[attachment]";
  }
};
