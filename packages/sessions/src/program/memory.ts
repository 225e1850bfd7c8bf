import { contentText, type Message, textOf, type ReplyDraft, toolCallsOf, toolResultOf } from "@colloquy/machine";
import type { SummarySection } from "@colloquy/machine/hosting";
import {
  type Exchange,
  messagesOfExchanges,
  type PlainExchange,
  fieldsOf,
  exchangesBefore,
  marksIn,
  type Fields,
  partsOf,
} from "./exchange.ts";

/** A program's view of the earlier calls: frozen, and never changed afterwards. */
export interface Memory {
  /** The exchanges that are shown whole, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** The whole memory in the form of a model's prompt: consolidated memory, summaries, exchanges. */
  readonly messages: readonly Message[];
  /**
   * The same as a text for a prompt: a line for each turn, `[Turn 3] …`. `No prior conversation context.` if there is
   * none.
   */
  readonly text: string;
}

/** The line of a memory about a turn: its summary, otherwise its inputs and outputs. */
export interface TurnSummary {
  /** The number of the turn; 0 for given exchanges, such as a seed. */
  readonly turn: number;
  /** May have several lines, as the summariser wrote it. */
  readonly text: string;
}

/**
 * Converts the messages of a prompt, without the message that asks, to a memory.
 *
 * @param most the largest number of exchanges to show; the newest are shown.
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

/**
 * Returns the memory that a call saw: from the earlier messages, or from the exchanges that its caller gave to replace
 * them or to begin again.
 */
export const memoryAt = (prompt: readonly Message[]): Memory => {
  const { history, most } = marksIn(prompt.at(-1)?.metadata);
  if (history === undefined) return memoryOf(prompt.slice(0, -1), most);
  if ("instead" in history) return memoryGiven(history.instead);
  return memoryOf(messagesOfExchanges(history.before), most);
};

/** Returns the lines of a memory one by one; `sections` are those of its summary message. */
export const summariesIn = (memory: Memory, sections: readonly SummarySection[]): readonly TurnSummary[] => {
  const { exchanges, messages } = memory;
  const shown = messages.some(isSummary) ? sections : [];
  return Object.freeze([
    ...shown.map(({ to, line }) => Object.freeze({ turn: to, text: withoutLabel(line) })),
    ...exchanges.map((each) => Object.freeze({ turn: each.turn, text: withoutLabel(lineOf(exchanges)(each)) })),
  ]);
};

/** Makes a memory of the exchanges that a caller gave. */
export const memoryGiven = (exchanges: readonly PlainExchange[]): Memory => memoryOf(messagesOfExchanges(exchanges));

/** Replaces the seed with the caller's exchanges if the conversation began again with them. */
const begunAnew = (prompt: readonly Message[]): readonly Message[] => {
  const place = prompt.findLastIndex((message) => exchangesBefore(message) !== null);
  const first = prompt[place];
  return first === undefined
    ? prompt
    : [...messagesOfExchanges(exchangesBefore(first) ?? [], 0), ...prompt.slice(place)];
};

const nothing = "No prior conversation context.";

/** Returns the exchanges in messages. If fields are left out, an exchange may lack its question or its answer. */
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

/** Returns whether a message answers the one before, by their ids: an answer has the next id in the same turn. */
const isAnswer = (message: Message | undefined, asked: Message | undefined): boolean => {
  if (message?.role !== "assistant" || asked?.role !== "user") return false;
  const [turn, place] = asked.id.split(".");
  return message.id === `${turn}.${Number(place) + 1}`;
};

/** Returns the turn of a message, whose id begins with its number. */
const turnOf = ({ id }: Message): number => {
  const turn = Number.parseInt(id, 10);
  return Number.isSafeInteger(turn) ? turn : 0;
};

/** Returns the lines before the exchanges: consolidated memory, and the lines of summaries, without their heading. */
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

/** Removes the label of a line in brackets: `[Turn 3] …`. */
const withoutLabel = (line: string): string => line.slice(line.indexOf("]") + 1).trimStart();

/** Returns the outputs as text, with the used tools. The description of `describe` replaces the outputs. */
const answerWords = (message: Message): readonly string[] => {
  const said = textOf(message);
  if (said === "") return [`Answered: ${dataWords(message)}`];
  return isToolUse(said) ? [said, `Answered: ${dataWords(message)}`] : [`Answered: ${said}`];
};

const dataWords = ({ parts }: Message): string =>
  parts.flatMap((part) => (part.type === "data" ? contentText([part]) : [])).join("; ");

/**
 * Converts a program's outputs to the reply of its turn: the outputs as data, after a text. The text is the description
 * by `describe`, or the list of used tools.
 */
export const replyOf = (outputs: Fields, said: string): ReplyDraft => ({
  content: [...(said === "" ? [] : [{ type: "text", text: said } as const]), ...partsOf(outputs)],
});

/** Describes the tools that were used in rounds; null if there were none. */
export const toolUseOf = (messages: readonly Message[]): string | null => {
  const uses = messages.flatMap((message) => [
    ...toolCallsOf(message).map(({ name, arguments: written }) => `${name}(${written})`),
    ...resultWords(message),
  ]);
  return uses.length === 0 ? null : `${heading}${uses.join(" ")}`;
};

/** Returns whether a text of a reply lists used tools: it came from `toolUseOf`. */
export const isToolUse = (text: string): boolean => text.startsWith(heading);

const heading = "Tools used: ";

const resultWords = (message: Message): readonly string[] => {
  const result = toolResultOf(message);
  return result === undefined ? [] : [`-> ${contentText(result.content)};`];
};
