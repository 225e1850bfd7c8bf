import { contentText, type Message, textOf } from "@colloquy/machine";
import type { SummarySection } from "@colloquy/machine/hosting";
import { type Exchange, messagesOfExchanges, type PlainExchange } from "./exchange.ts";
import { fieldsOf } from "./fields.ts";
import { exchangesBefore, marksIn } from "./marks.ts";
import { isToolUse } from "./reply.ts";

/** What a program sees of the calls before: frozen, and never changed afterwards. */
export interface Memory {
  /** Those that are shown whole, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** All of it, as the prompt of a model has it: what was consolidated, summaries, exchanges. */
  readonly messages: readonly Message[];
  /** The same as a text, for a prompt: a line for each turn, `[Turn 3] …`. `No prior conversation context.` where there is none. */
  readonly text: string;
}

/** The line of a memory that says what a turn was about: its summary, or else its inputs and outputs. */
export interface TurnSummary {
  /** The number of the turn; 0 for exchanges that were given, such as a seed. */
  readonly turn: number;
  /** May have several lines, as its summariser wrote it. */
  readonly text: string;
}

/**
 * What the messages of a prompt come to, without the message that asks.
 *
 * @param most exchanges to show, the newest.
 */
export const memoryOf = (prompt: readonly Message[], most: number = Number.POSITIVE_INFINITY): Memory => {
  const messages = begunAnew(prompt);
  const exchanges = exchangesIn(messages);
  const shown = exchanges.slice(Math.max(0, exchanges.length - most));
  const left = new Set(exchanges.slice(0, exchanges.length - shown.length).flatMap((exchange) => exchange.messages));
  const rest = messages.filter((message) => !left.has(message));
  const lines = [...rest.flatMap(notesIn), ...shown.map(lineOf(shown))];
  return Object.freeze({
    exchanges: Object.freeze(shown),
    messages: Object.freeze(rest),
    text: lines.join("\n") || nothing,
  });
};

/** What a call was shown: what the messages before it come to; or what its caller gave in their place, or to begin anew with. */
export const memoryAt = (prompt: readonly Message[]): Memory => {
  const { history, most } = marksIn(prompt.at(-1)?.metadata);
  if (history === undefined) return memoryOf(prompt.slice(0, -1), most);
  if ("instead" in history) return memoryGiven(history.instead);
  return memoryOf(messagesOfExchanges(history.before), most);
};

/** Returns the lines of a memory one by one; `sections` are those that its message of summaries has. */
export const summariesIn = (memory: Memory, sections: readonly SummarySection[]): readonly TurnSummary[] => {
  const { exchanges, messages } = memory;
  const shown = messages.some(isSummary) ? sections : [];
  return Object.freeze([
    ...shown.map(({ to, line }) => Object.freeze({ turn: to, text: withoutLabel(line) })),
    ...exchanges.map((each) => Object.freeze({ turn: each.turn, text: withoutLabel(lineOf(exchanges)(each)) })),
  ]);
};

/** The memory that exchanges are which a caller gave. */
export const memoryGiven = (exchanges: readonly PlainExchange[]): Memory => memoryOf(messagesOfExchanges(exchanges));

/** Where the conversation began anew, what a caller gave stands in place of the seed. */
const begunAnew = (prompt: readonly Message[]): readonly Message[] => {
  const place = prompt.findLastIndex((message) => exchangesBefore(message) !== null);
  const first = prompt[place];
  return first === undefined
    ? prompt
    : [...messagesOfExchanges(exchangesBefore(first) ?? [], 0), ...prompt.slice(place)];
};

const nothing = "No prior conversation context.";

/** Where fields are left out, an exchange may have lost what was asked, or what was answered. */
const exchangesIn = (messages: readonly Message[]): readonly Exchange[] =>
  messages.flatMap((message, place) => {
    const [before, next] = [messages[place - 1], messages[place + 1]];
    if (message.synthesised === true) return [];
    if (message.role === "assistant") return isAnswer(message, before) ? [] : exchange(undefined, message);
    return message.role === "user" ? exchange(message, isAnswer(next, message) ? next : undefined) : [];
  });

const exchange = (asked: Message | undefined, answered: Message | undefined): readonly Exchange[] => {
  const messages = [asked, answered].filter((message) => message !== undefined);
  const turn = Math.max(0, ...messages.map(turnOf));
  return [
    Object.freeze({ turn, inputs: fieldsOf(asked), outputs: fieldsOf(answered), messages: Object.freeze(messages) }),
  ];
};

/** By their ids: a turn has one after the other. */
const isAnswer = (message: Message | undefined, asked: Message | undefined): boolean => {
  if (message?.role !== "assistant" || asked?.role !== "user") return false;
  const [turn, place] = asked.id.split(".");
  return message.id === `${turn}.${Number(place) + 1}`;
};

/** A message's id begins with the number of its turn. */
const turnOf = ({ id }: Message): number => {
  const turn = Number.parseInt(id, 10);
  return Number.isSafeInteger(turn) ? turn : 0;
};

/** What stands in a prompt before the exchanges: what was consolidated, and the lines of summaries, whose heading is left out. */
const notesIn = (message: Message): readonly string[] => {
  if (message.role === "system" || message.role === "developer") return [textOf(message)];
  return isSummary(message) ? textOf(message).split("\n").slice(1) : [];
};

const isSummary = ({ role, synthesised }: Message): boolean => role === "user" && synthesised === true;

const lineOf = (exchanges: readonly Exchange[]): ((exchange: Exchange) => string) => {
  const first = exchanges.find(({ turn }) => turn > 0)?.turn ?? 1;
  return ({ turn, messages }) =>
    [
      turn === 0 ? `[Before turn ${first}]` : `[Turn ${turn}]`,
      ...messages.flatMap((message) =>
        message.role === "user" ? `Asked: ${dataWords(message)}` : answerWords(message),
      ),
    ].join(" ");
};

/** A line begins with its label in brackets: `[Turn 3] …`. */
const withoutLabel = (line: string): string => line.slice(line.indexOf("]") + 1).trimStart();

/** The outputs, with the tools that were used; what `describe` said of them stands in their place. */
const answerWords = (message: Message): readonly string[] => {
  const said = textOf(message);
  if (said === "") return [`Answered: ${dataWords(message)}`];
  return isToolUse(said) ? [said, `Answered: ${dataWords(message)}`] : [`Answered: ${said}`];
};

const dataWords = ({ parts }: Message): string =>
  parts.flatMap((part) => (part.type === "data" ? contentText([part]) : [])).join("; ");
