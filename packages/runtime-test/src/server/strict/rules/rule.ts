import { type Fields, firstOf, objectsIn, textOf } from "./json.ts";

/** The answer of a server instead of a reply. */
export interface Refusal {
  readonly message: string;
  /** Default 400. */
  readonly status?: number;
  readonly type?: string;
  readonly param?: string | undefined;
  readonly code?: string | number | undefined;
}

/** A refusal, or only its message; null or false if there is none. */
export type Verdict = Refusal | string | null | false;

export const refusal = (message: string, param?: string, code?: string): Refusal => ({ message, param, code });

export interface Rule {
  readonly name: string;
  /** Where it is written that they refuse it: an address, or an issue of a repository. */
  readonly source: string;
  readonly refuse: (request: Fields) => Verdict;
}

/** Returns the refusal of a rule, or null. */
export const refusalBy = ({ refuse }: Rule, request: Fields): Refusal | null => {
  const verdict = refuse(request) || null;
  return typeof verdict === "string" ? { message: verdict } : verdict;
};

export interface Family {
  readonly rules: (request: Fields) => readonly Rule[];
  /** The body of the error in that family's shape. */
  readonly bodyOf: (refusal: Refusal) => Fields | readonly Fields[];
}

interface HistoryCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly arguments: unknown;
  /** `messages[1].tool_calls[0]` */
  readonly at: string;
}

export const rule = (name: string, source: string, refuse: Rule["refuse"]): Rule => ({ name, source, refuse });

export const messagesOf = (request: Fields): readonly Fields[] => objectsIn(request["messages"]);

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

export const eachMessage = (
  name: string,
  source: string,
  refuse: (message: Fields, index: number, all: readonly Fields[]) => Verdict,
): Rule => eachOf(messagesOf, name, source, refuse);

/** Makes a rule about each of some things in a request by itself. */
export const eachOf = <Thing>(
  thingsIn: (request: Fields) => readonly Thing[],
  name: string,
  source: string,
  refuse: (thing: Thing, index: number, all: readonly Thing[]) => Verdict,
): Rule =>
  rule(name, source, (request) => {
    const all = thingsIn(request);
    return firstOf(all, (thing, index) => refuse(thing, index, all));
  });

export const eachCall = (name: string, source: string, refuse: (call: HistoryCall) => Verdict): Rule =>
  eachOf((request) => messagesOf(request).flatMap(callsOf), name, source, refuse);

export const eachPart = (
  name: string,
  source: string,
  refuse: (part: Fields, message: Fields, at: string, index: number) => Verdict,
): Rule =>
  eachMessage(name, source, (message, index) =>
    firstOf(objectsIn(message["content"]), (part, place) =>
      refuse(part, message, `messages[${index}].content[${place}]`, index),
    ),
  );

export const isSystem = ({ role }: Fields): boolean => role === "system" || role === "developer";

export const saysNothing = (message: Fields, index: number): boolean =>
  message["role"] === "assistant" && isEmptyContent(message["content"]) && callsOf(message, index).length === 0;

/** Whether a message has neither text nor anything else as its content. Blank text counts as none if `blank` is set. */
export const isEmptyContent = (content: unknown, blank = false): boolean => {
  const isNothing = (text: string): boolean => (blank ? text.trim() : text) === "";
  if (typeof content === "string") return isNothing(content);
  return objectsIn(content).every((part) => part["type"] === "text" && isNothing(textOf(part["text"])));
};
