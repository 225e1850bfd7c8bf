import type { JsonObject } from "@colloquy/machine";

/**
 * States what a family of servers takes in the messages and tools of a request. A plain value: `JSON.stringify` shows all of
 * it, and `{ ...dialect, name: "ours", texts: "joined" }` is another one. Patterns are the sources of regular expressions.
 */
export interface Dialect {
  readonly name: string;
  /** The ids of tool calls. An id that does not match, or that an earlier call of the prompt has, is replaced on the wire. */
  readonly callIds: string;
  /** The names of tools. A name that does not match is replaced on the wire, and comes back as it was. */
  readonly toolNames: string;
  /** The keys of properties in schemas of tools; null for any. One that does not match is replaced as the name of a tool is. */
  readonly propertyKeys: string | null;
  /** The names of speakers, with other characters replaced by `_`; null leaves names out. */
  readonly messageNames: string | null;
  /** Whether several texts of a message stay a list of parts, or become one string. */
  readonly texts: "listed" | "joined";
  /**
   * Which messages have images and files: all, those of users, or none. If only users have them, those of a tool's result
   * follow its round in a message of the user. All others that are not taken are named in a text.
   */
  readonly images: "everywhere" | "of users" | "none";
  /** Whether messages of developers have their own role, or that of the system. */
  readonly developers: "own role" | "system";
  /** Whether system messages may be anywhere. If not, those at the beginning become one, and later ones become a user's. */
  readonly systems: "anywhere" | "one";
  /**
   * Whether texts of white space are sent: all of them, none, or those beside something else in their message. If a blank
   * message is left out, blank questions and results are marked.
   */
  readonly blank: "sent" | "beside others" | "left out";
  /** The roles that a user message may follow only after a mark as an assistant message. */
  readonly noUserAfter: readonly ("tool" | "user")[];
  /** Whether a prompt may begin with a reply, as after a seed with a greeting, or only after a marked question. */
  readonly firstReply: "taken" | "marked";
  /** Whether a refusal has a field of its own, or is a text. */
  readonly refusals: "field" | "text";
  /** The provider fields that it takes of its own replies, and of messages of unrecorded origin. It gets no field of another server. */
  readonly fields: "all" | readonly string[];
  /** Whether it takes back every field of the replies that are known to be its own. */
  readonly ownFields: boolean;
  /** The field of reasoning that each reply of a turn with calls must have, if only empty; null for no such field. */
  readonly owedReasoning: string | null;
  /** Fields that the first call of a reply gets if it has none of its own; null for none. */
  readonly owedOfCall: JsonObject | null;
  /** Whether calls and results go as they are if the request offers no tools, or as texts. */
  readonly callsWithoutTools: "sent" | "text";
  /**
   * Whether schemas of tools are completed (`type`, `properties`, `items`), or sent as they are. Completed ones may also have
   * no lists of types, exactly one type in each schema, or patterns of whole texts.
   */
  readonly schemas: "completed" | "no type lists" | "one type each" | "whole patterns" | "as given";
}

/** The API of a handler: chat completions, the Responses API, text, or the AI SDK. */
export type Api = "chat" | "responses" | "text" | "ai-sdk";
