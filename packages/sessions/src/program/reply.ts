import { contentText, type Message, type ReplyDraft, toolCallsOf, toolResultOf } from "@colloquy/machine";
import { type Fields, partsOf } from "./fields.ts";

/**
 * Converts a program's outputs to the reply of its turn: the outputs as data, after a text. The text is the description
 * by `describe`, or the list of used tools.
 */
export const replyOf = (outputs: Fields, said: string): ReplyDraft => ({
  content: [...(said === "" ? [] : [{ type: "text", text: said } as const]), ...partsOf(outputs)],
});

/** Describes the tools that were used in rounds; null if there were none. */
export const toolUseOf = (messages: readonly Message[]): string | null => {
  const uses = messages.flatMap((message) => [
    ...toolCallsOf(message).map(({ name, arguments: written }) => `${name}(${written})`),
    ...resultWords(message),
  ]);
  return uses.length === 0 ? null : `${heading}${uses.join(" ")}`;
};

/** Returns whether a text of a reply lists used tools: it came from `toolUseOf`. */
export const isToolUse = (text: string): boolean => text.startsWith(heading);

const heading = "Tools used: ";

const resultWords = (message: Message): readonly string[] => {
  const result = toolResultOf(message);
  return result === undefined ? [] : [`-> ${contentText(result.content)};`];
};
