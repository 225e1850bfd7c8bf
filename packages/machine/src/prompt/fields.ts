import type { Message } from "../thread/message.ts";
import { withParts } from "../thread/make-message.ts";

/** Selects the data parts of closed turns that are shown, by their fields. */
export interface Fields {
  /** Left out of every message; takes precedence over `inputs`. */
  readonly omit?: readonly string[];
  /** The only fields that user messages show. */
  readonly inputs?: readonly string[];
}

/**
 * Returns the message with its shown fields only. Returns the same object if all are shown, and null if nothing is
 * left.
 */
export const withFields = (message: Message, fields: Fields): Message | null => {
  if (!message.parts.some((part) => part.type === "data" && !isShown(message, part.field, fields))) return message;
  const parts = message.parts.filter((part) => part.type !== "data" || isShown(message, part.field, fields));
  return parts.length === 0 ? null : withParts(message, parts);
};

const isShown = (message: Message, field: string, { omit, inputs }: Fields): boolean =>
  omit?.includes(field) !== true && (inputs === undefined || message.role !== "user" || inputs.includes(field));
