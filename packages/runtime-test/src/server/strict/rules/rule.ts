import { type Fields, firstOf, objectsIn, textOf } from "./json.ts";

/** The answer of a server instead of a reply. */
export interface Refusal {
  readonly message: string;
  /** Default 400. */
  readonly status?: number;
  readonly type?: string;
  readonly param?: string;
  readonly code?: string | number;
}

/** One thing that a family of servers refuses. */
export interface Rule {
  readonly name: string;
  /** Where it is written that they refuse it: an address, or an issue of a repository. */
  readonly source: string;
  readonly refuse: (request: Fields) => Refusal | null;
}

/** The servers of one kind. */
export interface Family {
  readonly rules: (request: Fields) => readonly Rule[];
  /** The body of the error in that family's shape. */
  readonly bodyOf: (refusal: Refusal) => Fields | readonly Fields[];
}

/** A call in the history of a chat request. */
export interface HistoryCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly arguments: unknown;
  /** `messages[1].tool_calls[0]` */
  readonly at: string;
}

export const messagesOf = (request: Fields): readonly Fields[] => objectsIn(request["messages"]);

/** Returns the calls of an assistant message. */
export const callsOf = (message: Fields, index: number): readonly HistoryCall[] =>
  objectsIn(message["tool_calls"]).map((call, place) => {
    const [called = {}] = objectsIn([call["function"] ?? call["custom"]]);
    return {
      id: call["id"],
      name: called["name"],
      // The input of a custom tool is any text.
      arguments: call["custom"] === undefined ? called["arguments"] : "{}",
      at: `messages[${index}].tool_calls[${place}]`,
    };
  });

/** Makes a rule about each message by itself. */
export const eachMessage = (
  name: string,
  source: string,
  refuse: (message: Fields, index: number, all: readonly Fields[]) => Refusal | null,
): Rule => ({
  name,
  source,
  refuse: (request) => {
    const all = messagesOf(request);
    return firstOf(all, (message, index) => refuse(message, index, all));
  },
});

/** Makes a rule about each call of the history by itself. */
export const eachCall = (name: string, source: string, refuse: (call: HistoryCall) => Refusal | null): Rule =>
  eachMessage(name, source, (message, index) => firstOf(callsOf(message, index), refuse));

/** Makes a rule about each part of the messages whose content is a list. */
export const eachPart = (
  name: string,
  source: string,
  refuse: (part: Fields, message: Fields, at: string, index: number) => Refusal | null,
): Rule =>
  eachMessage(name, source, (message, index) =>
    firstOf(objectsIn(message["content"]), (part, place) =>
      refuse(part, message, `messages[${index}].content[${place}]`, index),
    ),
  );

/** Whether a message has neither text nor anything else as its content. Blank text counts as none if `blank` is set. */
export const isEmptyContent = (content: unknown, blank = false): boolean => {
  const isNothing = (text: string): boolean => (blank ? text.trim() : text) === "";
  if (typeof content === "string") return isNothing(content);
  return objectsIn(content).every((part) => part["type"] === "text" && isNothing(textOf(part["text"])));
};
