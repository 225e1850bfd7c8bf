import type { Message } from "../thread/message.ts";
import { withParts } from "../thread/draft.ts";

/** Which data parts of closed turns are shown, by their fields. */
export interface Fields {
  /** Left out of every message; stronger than `inputs`. */
  readonly omit?: readonly string[];
  /** Of user messages, only these are shown. */
  readonly inputs?: readonly string[];
}

/** The message as far as the fields show it: the same one where that is all of it, null where nothing is left. */
export const withFields = (message: Message, fields: Fields): Message | null => {
  if (!message.parts.some((part) => part.type === "data" && !isShown(message, part.field, fields))) return message;
  const parts = message.parts.filter((part) => part.type !== "data" || isShown(message, part.field, fields));
  return parts.length === 0 ? null : withParts(message, parts);
};

const isShown = (message: Message, field: string, { omit, inputs }: Fields): boolean =>
  omit?.includes(field) !== true && (inputs === undefined || message.role !== "user" || inputs.includes(field));
