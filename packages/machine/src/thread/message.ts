import type { Json, JsonObject } from "./json.ts";

/**
 * One role-tagged utterance of a thread. Plain JSON, never changed in place.
 *
 * `id` is derived: from the turn and the order of arrival (`"3.2"`), for a result from its call (`"3.1.0"`),
 * for a system message from its revision (`"s1"`). It is unique within the thread.
 */
export interface Message {
  readonly id: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly name?: string;
  readonly metadata?: JsonObject;
  /** Fields of the provider that must be sent back as they came. */
  readonly provider?: JsonObject;
  /** The reply ended early: cancelled, cut off, or failed half way. */
  readonly incomplete?: true;
  /** Made by the machine so that the thread stays well-formed. */
  readonly synthesised?: true;
  /** What was spoken of a longer answer; `characters` is the length that the answer had, in UTF-16 units. */
  readonly truncated?: { readonly characters: number };
  /** A short digest of what a model would see of this message. Not cryptographic. */
  readonly digest: string;
}

/** `developer` is the newer providers' word for `system`; a thread keeps the one that it was given. */
export type Role = "system" | "developer" | "user" | "assistant" | "tool";

/** A piece of a message. */
export type Part = ContentPart | ReasoningPart | RefusalPart | ToolCallPart | ToolResultPart;

/** What any message may contain. */
export type ContentPart = TextPart | DataPart | ImagePart | OpaquePart;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  /** Cache marks and the like, which must be sent back. */
  readonly provider?: JsonObject;
}

/** A named value of a structured utterance, such as `question` or `documents`. */
export interface DataPart {
  readonly type: "data";
  readonly field: string;
  readonly value: Json;
}

/** A reference to an image: a URL, or a `data:` URL. */
export interface ImagePart {
  readonly type: "image";
  readonly url: string;
  readonly detail?: string;
}

/** A part of a kind that Colloquy does not interpret (audio, file, …), kept and sent back as it came. */
export interface OpaquePart {
  readonly type: "opaque";
  readonly value: JsonObject;
}

export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  /** Signatures and the like, which some providers want back. */
  readonly provider?: JsonObject;
}

export interface RefusalPart {
  readonly type: "refusal";
  readonly text: string;
  readonly provider?: JsonObject;
}

/** A tool call that a model asked for. */
export interface ToolCallPart {
  readonly type: "toolCall";
  /** Derived: `turn.step.position`. The identity of the call, where the provider's id is not one. */
  readonly callId: string;
  /** As the provider sent it. Providers reuse them; null when there was none. */
  readonly providerCallId: string | null;
  readonly name: string;
  /** The exact string that the model wrote, which may not be JSON. */
  readonly arguments: string;
  readonly provider?: JsonObject;
}

/** The answer to one tool call. */
export interface ToolResultPart {
  readonly type: "toolResult";
  readonly callId: string;
  readonly providerCallId: string | null;
  readonly name: string;
  readonly outcome: ToolOutcome;
  readonly content: readonly ContentPart[];
}

/**
 * How a tool call ended. `interrupted`: cancelled or cut off before it answered. `unknown`: it was
 * started, and whether it took effect is not known. `refused`: it was never run (a limit, an unknown
 * tool, arguments that do not fit).
 */
export type ToolOutcome = "completed" | "failed" | "refused" | "interrupted" | "unknown";

/** What a message may be made from: a plain text, or its parts. */
export type Content = string | readonly ContentPart[];

/** A message as a host hands it in, before the machine gives it an id and a digest. */
export interface MessageDraft {
  readonly role: Exclude<Role, "tool">;
  readonly content: Content;
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly provider?: JsonObject;
}

/** What a model answered. */
export interface ReplyDraft {
  /** Text, or parts in the order in which they came. Absent when there are only tool calls. */
  readonly content?: string | readonly (ContentPart | ReasoningPart | RefusalPart)[];
  readonly toolCalls?: readonly ToolCallDraft[];
  readonly name?: string;
  readonly provider?: JsonObject;
}

export interface ToolCallDraft {
  /** The provider's id, null when it sent none. */
  readonly id: string | null;
  readonly name: string;
  readonly arguments: string;
  readonly provider?: JsonObject;
}

/** The calls that a message asks for, in their order; empty for all but some assistant messages. */
export const toolCallsOf = ({ parts }: Message): readonly ToolCallPart[] => {
  const calls: ToolCallPart[] = [];
  // Written out: it is asked of every message, and `filter` takes several times as long to go through a frozen list.
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index];
    if (part?.type === "toolCall") calls.push(part);
  }
  return calls;
};

/** The result that a tool message carries, or undefined. */
export const toolResultOf = (message: Message): ToolResultPart | undefined =>
  message.parts.find((part) => part.type === "toolResult");

/** The text of a message: its text parts joined; of a tool message, those of its result. */
export const textOf = (message: Message): string => joinText(toolResultOf(message)?.content ?? message.parts);

const joinText = (parts: readonly Part[]): string =>
  parts.reduce((text, part) => (part.type === "text" ? text + part.text : text), "");

/** A system prompt: its text, or a message under `system` or `developer`. */
export type SystemDraft =
  | string
  | {
      readonly role: "system" | "developer";
      readonly content: Content;
      readonly name?: string;
      readonly provider?: JsonObject;
    };
