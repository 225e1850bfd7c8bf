import { contentText, type Json, type Message, textOf, toolCallsOf, toolResultOf } from "@colloquy/machine";

/** A prompt in plain form, for readable rules and matchers. */
export interface PromptView {
  /** All messages, oldest first, system messages included. */
  readonly messages: readonly PlainMessage[];
  /** The text of the first system or developer message; "" if there is none. */
  readonly system: string;
  /** The text of the newest user message; "" if there is none. */
  readonly lastUserText: string;
  /** The newest message; undefined in an empty prompt. */
  readonly last: PlainMessage | undefined;
  /** The tool results after the newest user message, oldest first. */
  readonly toolResults: readonly PlainToolResult[];
  /** All tool calls that the prompt shows, oldest first. */
  readonly toolCalls: readonly PlainToolCall[];
  /** Returns whether any user message of the prompt contains this text, ignoring case. */
  readonly mentions: (text: string | RegExp) => boolean;
}

export interface PlainMessage {
  readonly role: Message["role"];
  /**
   * The text of the message; of a tool message, the text of its result. Each data field is a line: `field: text`, or
   * `field: JSON` if the value is not a text. So are the inputs of a program with a signature.
   */
  readonly text: string;
  /** Empty except for some assistant messages. */
  readonly toolCalls: readonly PlainToolCall[];
  /** The result in a tool message. */
  readonly toolResult?: PlainToolResult;
}

export interface PlainToolCall {
  readonly name: string;
  /** The exact string from the call. */
  readonly arguments: string;
  /** The arguments as JSON; undefined if they are not JSON. */
  readonly input: Json | undefined;
}

export interface PlainToolResult {
  /** The call that it answers. */
  readonly call: PlainToolCall;
  readonly text: string;
  /** The text as JSON; undefined if it is not JSON. */
  readonly value: Json | undefined;
}

/** Returns the plain form of a prompt. */
export const viewPrompt = (prompt: readonly Message[]): PromptView => {
  const messages = plainMessages(prompt);
  const lastUser = messages.findLastIndex(({ role }) => role === "user");
  return {
    messages,
    system: messages.find(({ role }) => role === "system" || role === "developer")?.text ?? "",
    lastUserText: messages[lastUser]?.text ?? "",
    last: messages.at(-1),
    toolResults: messages.slice(lastUser + 1).flatMap(({ toolResult }) => toolResult ?? []),
    toolCalls: messages.flatMap(({ toolCalls }) => toolCalls),
    mentions: (text) => messages.some((message) => message.role === "user" && contains(message.text, text)),
  };
};

const plainMessages = (prompt: readonly Message[]): readonly PlainMessage[] => {
  const callsById = new Map<string, PlainToolCall>();
  return prompt.map((message) => {
    const toolCalls = toolCallsOf(message).map((part) => {
      const call: PlainToolCall = { name: part.name, arguments: part.arguments, input: parsed(part.arguments) };
      callsById.set(part.callId, call);
      return call;
    });
    const text = wordsOf(message);
    const result = toolResultOf(message);
    if (result === undefined) return { role: message.role, text, toolCalls };
    const call = callsById.get(result.callId) ?? { name: result.name, arguments: "", input: undefined };
    return { role: message.role, text, toolCalls, toolResult: { call, text, value: parsed(text) } };
  });
};

/** Returns the text of a message. A single text stays unchanged; beside data it is one of several lines. */
const wordsOf = (message: Message): string => {
  const parts = toolResultOf(message)?.content ?? message.parts;
  const hasData = parts.some(({ type }) => type === "data");
  return hasData ? contentText(parts.filter(({ type }) => type === "text" || type === "data")) : textOf(message);
};

const parsed = (text: string): Json | undefined => {
  try {
    // JSON.parse returns JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

const contains = (text: string, wanted: string | RegExp): boolean =>
  typeof wanted === "string" ? text.toLowerCase().includes(wanted.toLowerCase()) : text.search(wanted) >= 0;
