import type { ContentPart, Part, Message } from "./message.ts";

/**
 * Returns the text of parts for a reader: texts unchanged, data with their fields, and a word for each image or
 * attachment. It skips calls, results and reasoning.
 */
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

/**
 * Returns the whole text of a part, for a counter or a search. It includes reasoning, results, and the name and
 * arguments of a call.
 */
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

/** Returns the text of one content part. */
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

/** Returns a message as one text for a person. Tool calls look like function calls, and results follow an arrow. */
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
