import { digestOfMessage } from "../thread/make-message.ts";
import type { Json, JsonObject } from "../thread/plain-data.ts";
import {
  type ContentPart,
  type Message,
  type Part,
  type Role,
  type ToolCallPart,
  toolCallsOf,
  type ToolOutcome,
} from "../thread/message.ts";

// Messages in few bytes: fields that have the expected value, such as ids and digests, are left out. All others are
// written unchanged, so nothing is lost.

/** `[role, content, rest, outcome]`; the outcome is that of a result. An unusual result is the message itself. */
export type PackedMessage = readonly Json[] | JsonObject;

export const packMessages = (turn: number, messages: readonly Message[]): readonly PackedMessage[] => {
  const expected = new Expected(turn);
  return messages.map((message) => {
    const packed = pack(message, expected);
    expected.pass(message);
    return packed;
  });
};

export const unpackMessages = (turn: number, packed: readonly PackedMessage[]): readonly Message[] => {
  const expected = new Expected(turn);
  return packed.map((each) => {
    const message = unpack(each, expected);
    expected.pass(message);
    return message;
  });
};

/** The expected fields of a message, derived from the messages before it. */
class Expected {
  readonly #turn: number;
  #made = 0;
  #step = 1;
  /** Calls without a result. */
  calls: readonly ToolCallPart[] = [];

  constructor(turn: number) {
    this.#turn = turn;
  }

  get id(): string {
    return `${this.#turn}.${this.#made}`;
  }

  callId(position: number): string {
    return `${this.#turn}.${this.#step}.${position}`;
  }

  pass(message: Message): void {
    if (message.role === "tool") {
      this.calls = this.calls.filter(({ callId }) => callId !== message.id);
      return;
    }
    this.#made = (numberIn(message.id) ?? this.#made) + 1;
    if (message.role !== "assistant") return;
    this.calls = toolCallsOf(message);
    this.#step = (numberIn(this.calls[0]?.callId ?? "") ?? this.#step) + 1;
  }
}

/** Returns the second number of an id, such as 3 of `2.3` or `2.3.0`; null if it has none. */
const numberIn = (id: string): number | null => {
  const number = Number(id.split(".")[1]);
  return Number.isSafeInteger(number) ? number : null;
};

const pack = (message: Message, expected: Expected): PackedMessage => {
  const { id, role, parts, digest, ...rest } = message;
  const result = role === "tool" ? packResult(message, expected) : null;
  if (role === "tool" && result === null) return asJson(message);
  const left: JsonObject = {
    ...(role === "tool" || id === expected.id ? {} : { id }),
    ...asJson(rest),
    ...(digest === digestOfMessage(message) ? {} : { digest }),
  };
  const content = result?.content ?? packParts(parts, expected);
  const more = Object.keys(left).length === 0 ? null : left;
  const outcome = result === null || result.outcome === "completed" ? null : result.outcome;
  return trimmed([letters[role], content, more, outcome]);
};

const unpack = (packed: PackedMessage, expected: Expected): Message => {
  // The text of a chunk was checked against its digest, so it has the written shape.
  if (!Array.isArray(packed)) return packed as unknown as Message;
  const [letter, content, more, outcome] = packed as [string, PackedContent, JsonObject | null, ToolOutcome | null];
  const role = roles[letter] ?? "user";
  const parts =
    role === "tool" ? unpackResult(content, outcome ?? "completed", expected) : unpackParts(content, expected);
  const id = role === "tool" ? (expected.calls[0]?.callId ?? "") : expected.id;
  const message = { id, role, parts, ...more };
  return "digest" in message && typeof message.digest === "string"
    ? { ...message, digest: message.digest }
    : { ...message, digest: digestOfMessage(message) };
};

type PackedContent = string | readonly Json[];

const packParts = (parts: readonly Part[], expected: Expected): PackedContent => {
  let position = 0;
  const packed = parts.map((part): Json => {
    if (part.type === "text") return packText(part);
    return part.type === "toolCall" ? packCall(part, expected.callId(position++)) : asJson(part);
  });
  const [only] = packed;
  return packed.length === 1 && typeof only === "string" ? only : packed;
};

const unpackParts = (packed: PackedContent, expected: Expected): readonly Part[] => {
  let position = 0;
  const list = typeof packed === "string" ? [packed] : packed;
  return list.map((part): Part => {
    if (Array.isArray(part)) return unpackCall(part, expected.callId(position++));
    const whole = unpackContent(part);
    if (whole.type === "toolCall") position++;
    return whole;
  });
};

const packText = (part: ContentPart): Json => (part.type === "text" && has(part, 2) ? part.text : asJson(part));

/** Reads a part that is not a packed call: a text, or the part itself. */
const unpackContent = (packed: Json): Part =>
  // The text of a chunk was checked against its digest, so it has the written shape.
  typeof packed === "string" ? { type: "text", text: packed } : (packed as unknown as Part);

const packCall = (part: ToolCallPart, expectedId: string): Json => {
  if (!has(part, 5)) return asJson(part);
  const { callId, providerCallId, name } = part;
  return trimmed([providerCallId, name, packArguments(part.arguments), callId === expectedId ? null : callId]);
};

const unpackCall = (packed: readonly Json[], expectedId: string): ToolCallPart => {
  const [providerCallId, name, written, callId] = packed as [string | null, string, Json, string | null | undefined];
  return {
    type: "toolCall",
    callId: callId ?? expectedId,
    providerCallId,
    name,
    arguments: typeof written === "string" ? written : JSON.stringify(written),
  };
};

/** Packs arguments. Most are the text of an object, which is shorter as an object. */
const packArguments = (written: string): Json => {
  if (!written.startsWith("{")) return written;
  try {
    const value: unknown = JSON.parse(written);
    // A text that begins with `{` and was parsed is an object.
    return JSON.stringify(value) === written ? (value as JsonObject) : written;
  } catch {
    return written;
  }
};

/** Packs the result of the next unanswered call; returns null for any other. */
const packResult = (
  { id, parts }: Message,
  expected: Expected,
): { readonly content: PackedContent; readonly outcome: ToolOutcome } | null => {
  const [part] = parts;
  const [call] = expected.calls;
  if (part?.type !== "toolResult" || parts.length !== 1 || !has(part, 6) || call === undefined) return null;
  const { callId, providerCallId, name } = call;
  if (part.callId !== callId || part.providerCallId !== providerCallId || part.name !== name || id !== callId)
    return null;
  const content = part.content.map(packText);
  const [only] = content;
  return { content: content.length === 1 && typeof only === "string" ? only : content, outcome: part.outcome };
};

const unpackResult = (packed: PackedContent, outcome: ToolOutcome, expected: Expected): readonly Part[] => {
  const { callId = "", providerCallId = null, name = "" } = expected.calls[0] ?? {};
  const list = typeof packed === "string" ? [packed] : packed;
  // See `unpackContent`.
  const content = list.map((part) => unpackContent(part) as ContentPart);
  return [{ type: "toolResult", callId, providerCallId, name, outcome, content }];
};

/** Returns whether a part has exactly this many members: those that every part of its type has. */
const has = (part: Part, members: number): boolean => Object.keys(part).length === members;

const trimmed = (items: readonly Json[]): readonly Json[] =>
  items.slice(0, items.findLastIndex((item) => item !== null) + 1);

/** Messages and parts are plain JSON, but an interface has no index signature that would say so. */
const asJson = (value: object): JsonObject => value as JsonObject;

const letters: { readonly [role in Role]: string } = {
  system: "s",
  developer: "d",
  user: "u",
  assistant: "a",
  tool: "t",
};
const roles: { readonly [letter: string]: Role } = {
  s: "system",
  d: "developer",
  u: "user",
  a: "assistant",
  t: "tool",
};
