import { contentText, type Message, type ReplyDraft, toolCallsOf, toolResultOf } from "@colloquy/machine";
import { type Fields, partsOf } from "./fields.ts";

/**
 * What a program answered, as the reply of its turn: the outputs as data, behind what `describe` says in their place, or
 * which tools were used by the models that it called.
 */
export const replyOf = (outputs: Fields, said: string | null): ReplyDraft => ({
  content: [...(said === null || said === "" ? [] : [{ type: "text", text: said } as const]), ...partsOf(outputs)],
});

/** The tools that were used in rounds, in words; null where none was. */
export const toolUseOf = (messages: readonly Message[]): string | null => {
  const uses = messages.flatMap((message) => [
    ...toolCallsOf(message).map(({ name, arguments: written }) => `${name}(${written})`),
    ...resultWords(message),
  ]);
  return uses.length === 0 ? null : `${heading}${uses.join(" ")}`;
};

/** Whether a text of a reply is about tools: it came from `toolUseOf`. */
export const isToolUse = (text: string): boolean => text.startsWith(heading);

const heading = "Tools used: ";

const resultWords = (message: Message): readonly string[] => {
  const result = toolResultOf(message);
  return result === undefined ? [] : [`-> ${contentText(result.content)};`];
};
