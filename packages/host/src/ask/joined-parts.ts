import type { AskPart } from "./parts.ts";

/** Returns whether a part continues the text of the one before it, so that the two can be shown as one. */
export const goesOnWith = (last: AskPart | undefined, next: AskPart): boolean => {
  switch (next.type) {
    case "text.delta":
    case "reasoning.delta":
    case "refusal.delta":
      return last?.type === next.type && last.step === next.step && last.attempt === next.attempt;
    case "toolCall.delta":
      return (
        last?.type === next.type &&
        last.step === next.step &&
        last.attempt === next.attempt &&
        last.position === next.position
      );
    case "output.partial":
      return last?.type === next.type && last.step === next.step;
    default:
      return false;
  }
};

/** Returns the text of a delta, which may grow; null for any other part. */
export const textOfDelta = (part: AskPart): string | null => {
  switch (part.type) {
    case "text.delta":
    case "reasoning.delta":
    case "refusal.delta":
      return part.text;
    case "toolCall.delta":
      return part.arguments;
    default:
      return null;
  }
};

/** Returns the same delta with another text. Any other part is returned unchanged. */
export const withText = (part: AskPart, text: string): AskPart => {
  switch (part.type) {
    case "text.delta":
    case "reasoning.delta":
    case "refusal.delta":
      return Object.freeze({ ...part, text });
    case "toolCall.delta":
      return Object.freeze({ ...part, arguments: text });
    default:
      return part;
  }
};
