import { contentText, type Json, type Message, textOf, toolCallsOf, toolResultOf } from "@colloquy/machine";

/** A prompt in plain form, for rules and matchers that are read by people. */
export interface PromptView {
  /** All of it, oldest first, system messages included. */
  readonly messages: readonly PlainMessage[];
  /** The text of the first system or developer message; "" for none. */
  readonly system: string;
  /** The text of the newest user message; "" for none. */
  readonly lastUserText: string;
  /** The newest message; undefined in an empty prompt. */
  readonly last: PlainMessage | undefined;
  /** What tools answered since the newest user message, oldest first. */
  readonly toolResults: readonly PlainToolResult[];
  /** All tool calls that the prompt shows, oldest first. */
  readonly toolCalls: readonly PlainToolCall[];
  /** Whether a user said this, in any letter case, in any message of the prompt. */
  readonly mentions: (text: string | RegExp) => boolean;
}

export interface PlainMessage {
  readonly role: Message["role"];
  /**
   * Its text; of a tool message, that of the result. Data stand in it by their fields, each on a line: `field: text`, or
   * `field: JSON` where the value is no text. So do the inputs of a program with a signature.
   */
  readonly text: string;
  /** Empty for all but some assistant messages. */
  readonly toolCalls: readonly PlainToolCall[];
  /** What a tool message carries. */
  readonly toolResult?: PlainToolResult;
}

export interface PlainToolCall {
  readonly name: string;
  /** The exact string of the call. */
  readonly arguments: string;
  /** The arguments as JSON; undefined when they are none. */
  readonly input: Json | undefined;
}

export interface PlainToolResult {
  /** The call that it answers. */
  readonly call: PlainToolCall;
  readonly text: string;
  /** The text as JSON; undefined when it is none. */
  readonly value: Json | undefined;
}

/** The plain form of a prompt. */
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

/** A text alone is what was said, to the letter; beside data it is one line among others. */
const wordsOf = (message: Message): string => {
  const parts = toolResultOf(message)?.content ?? message.parts;
  const hasData = parts.some(({ type }) => type === "data");
  return hasData ? contentText(parts.filter(({ type }) => type === "text" || type === "data")) : textOf(message);
};

const parsed = (text: string): Json | undefined => {
  try {
    // What JSON.parse gives is JSON.
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

const contains = (text: string, wanted: string | RegExp): boolean =>
  typeof wanted === "string" ? text.toLowerCase().includes(wanted.toLowerCase()) : text.search(wanted) >= 0;
