import { type JsonObject, type Message, toArray, type Turn } from "@colloquy/machine";
import type { PlainExchange } from "./exchange.ts";

/** What a session keeps with each ask of its own, under `session` in the metadata, where a redaction reaches it. */
export interface Marks extends JsonObject {
  readonly askId: string;
  /** Exchanges that the caller gave. `instead`: in place of the memory of this call. `before`: the thread begins anew with them. */
  readonly history?: { readonly instead: readonly PlainExchange[] } | { readonly before: readonly PlainExchange[] };
  /** How many exchanges its memory shows at most. */
  readonly most?: number;
  /** The head that this call began anew from, to go back to where it fails. */
  readonly replaced?: number;
  /** The turn of the program that made the call, and the name under which it stands there. */
  readonly parentThread?: string;
  readonly parentTurn?: number;
  readonly node?: string;
  /** The threads whose programs wait for this call, the outermost first. */
  readonly ancestors?: readonly string[];
}

/** Marks beside the caller's own metadata. */
export const withMarks = (metadata: JsonObject | undefined, marks: Marks): JsonObject => ({
  ...metadata,
  session: marks,
});

/** The marks in metadata; none where another hand asked. */
export const marksIn = (metadata: JsonObject | undefined): Partial<Marks> => {
  const marks = metadata?.["session"];
  // Written by `withMarks` alone; what a redaction leaves of it has fewer members.
  return typeof marks === "object" && marks !== null && !Array.isArray(marks) ? (marks as Partial<Marks>) : {};
};

/** The marks of a turn: those of the message that asked. */
export const marksOf = (turn: Pick<Turn, "messages">): Partial<Marks> => marksIn(askOf(turn)?.metadata);

/** The message that asked. */
export const askOf = ({ messages }: Pick<Turn, "messages">): Message | undefined =>
  toArray(messages).find(({ role }) => role === "user");

/** The exchanges with which the conversation began anew at a message; null where it did not. */
export const exchangesBefore = (message: Message): readonly PlainExchange[] | null => {
  const { history } = marksIn(message.metadata);
  return history !== undefined && "before" in history ? history.before : null;
};

/** The metadata without the marks. */
export const withoutMarks = ({ session: _, ...metadata }: JsonObject): JsonObject => metadata;
