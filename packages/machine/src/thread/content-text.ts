import type { ContentPart, Part, Message } from "./message.ts";

/** What parts say, for a reader: texts as they are, data by their fields, a word in place of what is no text. Calls, results and reasoning are left aside. */
export const contentText = (parts: readonly Part[]): string =>
  parts
    .flatMap((part) => {
      switch (part.type) {
        case "refusal":
          return part.text;
        case "text":
        case "data":
        case "image":
        case "opaque":
          return contentWords(part);
        case "reasoning":
        case "toolCall":
        case "toolResult":
          return [];
      }
    })
    .join("\n");

/** All that a part says, for a counter or a search: of a call its name and arguments, reasoning and results too. */
export const partText = (part: Part): string => {
  switch (part.type) {
    case "reasoning":
      return part.text;
    case "toolCall":
      return `${part.name} ${part.arguments}`;
    case "toolResult":
      return contentText(part.content);
    default:
      return contentText([part]);
  }
};

/** What one part of a content says. */
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
