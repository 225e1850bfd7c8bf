import type { Json, JsonObject } from "./plain-data.ts";

/**
 * One message of a thread, with its role. Plain JSON, never changed in place.
 *
 * `id` is derived: from the turn and the order of arrival (`"3.2"`), for a result from its call (`"3.1.0"`), for a
 * system message from its revision (`"s1"`). It is unique within the thread.
 */
export interface Message {
  readonly id: string;
  readonly role: Role;
  readonly parts: readonly Part[];
  readonly name?: string;
  readonly metadata?: JsonObject;
  /** Fields of the provider that must be sent back unchanged. */
  readonly provider?: JsonObject;
  /** The reply ended early: cancelled, cut off, or failed. */
  readonly incomplete?: true;
  /** Created by the machine so that the thread stays well-formed. */
  readonly synthesised?: true;
  /**
   * The message holds only the spoken part of a longer answer; `characters` is the original length, in UTF-16 units.
   */
  readonly truncated?: { readonly characters: number };
  /** A short digest of the message as a model sees it. Not cryptographic. */
  readonly digest: string;
}

/** The role of a message. `developer` is the name of newer providers for `system`; a thread keeps the given one. */
export type Role = "system" | "developer" | "user" | "assistant" | "tool";

/** A piece of a message. */
export type Part = ContentPart | ReasoningPart | RefusalPart | ToolCallPart | ToolResultPart;

/** A part that any message may contain. */
export type ContentPart = TextPart | DataPart | ImagePart | OpaquePart;

export interface TextPart {
  readonly type: "text";
  readonly text: string;
  /** Cache marks and similar fields, which must be sent back. */
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

/** A part of a kind that Colloquy does not interpret (audio, file, …), kept and sent back unchanged. */
export interface OpaquePart {
  readonly type: "opaque";
  readonly value: JsonObject;
}

export interface ReasoningPart {
  readonly type: "reasoning";
  readonly text: string;
  /** Signatures and similar fields, which some providers require. */
  readonly provider?: JsonObject;
}

export interface RefusalPart {
  readonly type: "refusal";
  readonly text: string;
  readonly provider?: JsonObject;
}

/** A tool call in a model's reply. */
export interface ToolCallPart {
  readonly type: "toolCall";
  /** Derived: `turn.step.position`. It identifies the call, which the provider's id may not. */
  readonly callId: string;
  /** The provider's id. Providers reuse them; null if it sent none. */
  readonly providerCallId: string | null;
  readonly name: string;
  /** The exact string that the model wrote, which may not be JSON. */
  readonly arguments: string;
  readonly provider?: JsonObject;
}

/** The result of one tool call. */
export interface ToolResultPart {
  readonly type: "toolResult";
  readonly callId: string;
  readonly providerCallId: string | null;
  readonly name: string;
  readonly outcome: ToolOutcome;
  readonly content: readonly ContentPart[];
}

/**
 * The outcome of a tool call. `interrupted`: it was cancelled or cut off before it answered. `unknown`: it was
 * started, and its effect is unknown. `refused`: it never ran (a limit, an unknown tool, invalid arguments).
 */
export type ToolOutcome = "completed" | "failed" | "refused" | "interrupted" | "unknown";

/** The content of a message: a plain text, or its parts. */
export type Content = string | readonly ContentPart[];

/** A message from a host, before the machine gives it an id and a digest. */
export interface MessageDraft {
  readonly role: Exclude<Role, "tool">;
  readonly content: Content;
  readonly name?: string;
  readonly metadata?: JsonObject;
  readonly provider?: JsonObject;
}

/** The reply of a model. */
export interface ReplyDraft {
  /** A text, or parts in their order of arrival. Absent if there are only tool calls. */
  readonly content?: string | readonly (ContentPart | ReasoningPart | RefusalPart)[];
  readonly toolCalls?: readonly ToolCallDraft[];
  readonly name?: string;
  readonly provider?: JsonObject;
}

export interface ToolCallDraft {
  /** The provider's id; null if it sent none. */
  readonly id: string | null;
  readonly name: string;
  readonly arguments: string;
  readonly provider?: JsonObject;
}

/** Returns the tool calls of a message, in order; empty for all but some assistant messages. */
export const toolCallsOf = ({ parts }: Message): readonly ToolCallPart[] => {
  const calls: ToolCallPart[] = [];
  // A loop, because it runs for every message, and `filter` takes several times as long on a frozen list.
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index];
    if (part?.type === "toolCall") calls.push(part);
  }
  return calls;
};

/** Returns the result in a tool message, or undefined. */
export const toolResultOf = (message: Message): ToolResultPart | undefined =>
  message.parts.find((part) => part.type === "toolResult");

/** Returns the text of a message: its text parts joined; for a tool message, those of its result. */
export const textOf = (message: Message): string => joinText(toolResultOf(message)?.content ?? message.parts);

const joinText = (parts: readonly Part[]): string =>
  parts.reduce((text, part) => (part.type === "text" ? text + part.text : text), "");

/** A system prompt: its text, or a message with the role `system` or `developer`. */
export type SystemDraft =
  | string
  | {
      readonly role: "system" | "developer";
      readonly content: Content;
      readonly name?: string;
      readonly provider?: JsonObject;
    };

/**
 * Returns the text of content for a reader: texts unchanged, data with their fields, and a word for each image or
 * attachment. It skips calls, results and reasoning. Empty for null.
 */
export const contentText = (content: string | readonly Part[] | null): string =>
  typeof content === "string"
    ? content
    : (content ?? [])
        .flatMap((part) => {
          switch (part.type) {
            case "refusal":
              return part.text;
            case "text":
            case "data":
            case "image":
            case "opaque":
              return contentWords(part);
            case "reasoning":
            case "toolCall":
            case "toolResult":
              return [];
          }
        })
        .join("\n");

/**
 * Returns the whole text of a part, for a counter or a search. It includes reasoning, results, and the name and
 * arguments of a call.
 */
export const partText = (part: Part): string => {
  switch (part.type) {
    case "reasoning":
      return part.text;
    case "toolCall":
      return `${part.name} ${part.arguments}`;
    case "toolResult":
      return contentText(part.content);
    default:
      return contentText([part]);
  }
};

/** Returns the text of one content part. */
const contentWords = (part: ContentPart): string => {
  switch (part.type) {
    case "text":
      return part.text;
    case "data":
      return `${part.field}: ${typeof part.value === "string" ? part.value : JSON.stringify(part.value)}`;
    case "image":
      return "[image]";
    case "opaque":
      return "[attachment]";
  }
};

/** Returns a message as one text for a person. Tool calls look like function calls, and results follow an arrow. */
export const messageWords = ({ parts }: Message): string => parts.map(partWords).join(" ");

const partWords = (part: Part): string => {
  switch (part.type) {
    case "toolCall":
      return `${part.name}(${part.arguments})`;
    case "toolResult":
      return `-> ${part.content.map(contentWords).join(" ")}`;
    case "reasoning":
    case "refusal":
      return part.text;
    default:
      return contentWords(part);
  }
};
