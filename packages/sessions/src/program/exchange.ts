import {
  type DataPart,
  type Json,
  type JsonObject,
  type Message,
  type TextPart,
  type MessageDraft,
  messageFromDraft,
  toArray,
  type Turn,
} from "@colloquy/machine";
import { describeValueProblem, NotPlain, plainCopy, frozenCopy } from "@colloquy/machine/hosting";

/** The inputs or outputs of a program: named values, plain JSON. */
export interface Fields {
  readonly [field: string]: Json;
}

/**
 * Returns a frozen copy of a given object.
 *
 * @param what names the value in the error: `the inputs of "qa"`.
 * @throws TypeError if it is not an object, or contains a value that JSON cannot express
 */
export const fieldsGiven = (what: string, given: unknown): Fields => {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    const kind = given === null ? "null" : Array.isArray(given) ? "a list" : `of type ${typeof given}`;
    throw new TypeError(`${what} are ${kind}; they must be an object of fields`);
  }
  const copy = plainCopy(given);
  if (copy instanceof NotPlain) throw new TypeError(`${what}: ${describeValueProblem(copy.problem, "the object")}`);
  // A plain copy of an object is a JSON object.
  return copy as Fields;
};

/** Converts fields to the parts of a message, which has at least one. */
export const partsOf = (fields: JsonObject): readonly (DataPart | TextPart)[] => {
  const parts = Object.entries(fields).flatMap(([field, value]) =>
    value === undefined ? [] : [{ type: "data", field, value } as const],
  );
  return parts.length === 0 ? [{ type: "text", text: "" }] : parts;
};

/** Returns the fields in a message; none if there is no message. */
export const fieldsOf = (message: Pick<Message, "parts"> | undefined): Fields => {
  const data = (message?.parts ?? []).filter((part) => part.type === "data");
  return Object.freeze(Object.fromEntries(data.map(({ field, value }) => [field, value])));
};

/** One recorded call of a program. */
export interface Exchange {
  /** The number of its turn; 0 for an exchange that the caller gave, as a seed or in place of the thread's own. */
  readonly turn: number;
  readonly inputs: Fields;
  readonly outputs: Fields;
  readonly messages: readonly Message[];
}

/** An exchange as a caller passes it. */
export interface GivenExchange {
  readonly inputs: object;
  readonly outputs: object;
}

/** A plain exchange, as the journal contains it if a caller gave it. */
export interface PlainExchange extends JsonObject {
  readonly inputs: Fields;
  readonly outputs: Fields;
}

/** Returns copies of a caller's exchanges. @throws TypeError for values that JSON cannot express */
export const exchangesGiven = (what: string, given: readonly GivenExchange[]): readonly PlainExchange[] => {
  if (!Array.isArray(given)) throw new TypeError(`${what}: the exchanges are no list, of { inputs, outputs } each`);
  // Callers in JavaScript may pass anything.
  return given.map((exchange: Partial<GivenExchange> | null | undefined, place) => ({
    inputs: fieldsGiven(`the inputs of exchange ${place + 1} of ${what}`, exchange?.inputs),
    outputs: fieldsGiven(`the outputs of exchange ${place + 1} of ${what}`, exchange?.outputs),
  }));
};

/** Returns the two messages of an exchange. */
export const draftsOf = ({ inputs, outputs }: PlainExchange): readonly MessageDraft[] => [
  { role: "user", content: partsOf(inputs) },
  { role: "assistant", content: partsOf(outputs) },
];

/** Converts given exchanges to messages of a prompt: all in one turn, or in turns from 1 on if no turn is named. */
export const messagesOfExchanges = (exchanges: readonly PlainExchange[], turn?: number): readonly Message[] =>
  turn === undefined
    ? exchanges.flatMap((exchange, place) => messagesOf(`${place + 1}`, draftsOf(exchange)))
    : messagesOf(`${turn}`, exchanges.flatMap(draftsOf));

const messagesOf = (turn: string, drafts: readonly MessageDraft[]): readonly Message[] =>
  drafts.map((draft, index) => frozenCopy(messageFromDraft(`${turn}.${index}`, draft)));

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
