import { type JsonObject, type Message, toArray, type Turn } from "@colloquy/machine";
import type { PlainExchange } from "./exchange.ts";

/**
 * The data that a session stores with each of its asks, under `session` in the metadata, so that a redaction reaches
 * it.
 */
export interface Marks extends JsonObject {
  readonly askId: string;
  /**
   * Exchanges that the caller gave. `instead`: they replace the memory of this call. `before`: the thread begins again
   * with them.
   */
  readonly history?: { readonly instead: readonly PlainExchange[] } | { readonly before: readonly PlainExchange[] };
  /** The largest number of exchanges that its memory shows. */
  readonly most?: number;
  /** The head before this call began the conversation again. If the call fails, the head moves back to it. */
  readonly replaced?: number;
  /** The turn of the program that made the call, and the call's name in it. */
  readonly parentThread?: string;
  readonly parentTurn?: number;
  readonly node?: string;
  /** The threads whose programs wait for this call, outermost first. */
  readonly ancestors?: readonly string[];
}

/** Adds the marks to the caller's metadata. */
export const withMarks = (metadata: JsonObject | undefined, marks: Marks): JsonObject => ({
  ...metadata,
  session: marks,
});

/** Returns the marks in metadata; none if the ask was not made by the session. */
export const marksIn = (metadata: JsonObject | undefined): Partial<Marks> => {
  const marks = metadata?.["session"];
  // Only `withMarks` writes it; a redaction can only remove members.
  return typeof marks === "object" && marks !== null && !Array.isArray(marks) ? (marks as Partial<Marks>) : {};
};

/** Returns the marks of a turn, from the message that asked. */
export const marksOf = (turn: Pick<Turn, "messages">): Partial<Marks> => marksIn(askOf(turn)?.metadata);

/** Returns the message that asked. */
export const askOf = ({ messages }: Pick<Turn, "messages">): Message | undefined =>
  toArray(messages).find(({ role }) => role === "user");

/** Returns the exchanges with which the conversation began again at a message; null if it did not. */
export const exchangesBefore = (message: Message): readonly PlainExchange[] | null => {
  const { history } = marksIn(message.metadata);
  return history !== undefined && "before" in history ? history.before : null;
};

/** Returns the metadata without the marks. */
export const withoutMarks = ({ session: _, ...metadata }: JsonObject): JsonObject => metadata;
