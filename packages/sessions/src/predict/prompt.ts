import { type ContentPart, type Message, type SeedDraft, textOf } from "@colloquy/machine";
import { fieldsOf } from "../program/fields.ts";
import type { Memory } from "../program/memory.ts";
import { isToolUse } from "../program/reply.ts";

/** Returns the system prompt of a call: the instructions, and the consolidated memory of earlier episodes. */
export const systemOf = (instructions: string, { messages }: Memory): string =>
  [instructions, ...messages.filter(isSystem).map(textOf)].join("\n\n");

/**
 * Converts a memory to the conversation before a call. Answers are the JSON that the model is to write, or the
 * description that replaces them.
 */
export const seedOf = ({ messages }: Memory): readonly SeedDraft[] =>
  messages
    .filter((message) => !isSystem(message))
    .map((message) =>
      message.role === "assistant"
        ? { role: "assistant", content: answerOf(message) }
        : { role: "user", content: message.parts.filter(isContent) },
    );

const isSystem = ({ role }: Message): boolean => role === "system" || role === "developer";

const answerOf = (message: Message): string => {
  const said = textOf(message);
  if (said !== "" && !isToolUse(said)) return said;
  const outputs = JSON.stringify(fieldsOf(message));
  return said === "" ? outputs : `${said}\n${outputs}`;
};

const isContent = (part: Message["parts"][number]): part is ContentPart =>
  part.type === "text" || part.type === "data" || part.type === "image" || part.type === "opaque";
