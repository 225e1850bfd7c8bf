import type { JsonObject } from "@colloquy/machine";

/**
 * States what a family of servers takes in the messages and tools of a request. A plain value: `JSON.stringify` shows all of
 * it, and `{ ...dialect, name: "ours", texts: "joined" }` is another one. Patterns are the sources of regular expressions.
 */
export interface Dialect {
  readonly name: string;
  /** The ids of tool calls. An id that does not match, or that an earlier call of the prompt has, is replaced on the wire. */
  readonly callIds: string;
  /** The names of tools. A name that does not match goes by another one on the wire, and comes back as it was. */
  readonly toolNames: string;
  /** The names of speakers, with other characters replaced by `_`; null leaves names out. */
  readonly messageNames: string | null;
  /** Whether several texts of a message stay a list of parts, or become one string. */
  readonly texts: "listed" | "joined";
  /**
   * Which messages have images and files: all, those of users, or none. Those of a tool's result follow its round in a message
   * of the user if only users have them. All others that are not taken are named in a text.
   */
  readonly images: "everywhere" | "of users" | "none";
  /** Whether messages of developers have their own role, or that of the system. */
  readonly developers: "own role" | "system";
  /** Whether a system message may stand after the beginning, or goes as a user's there. */
  readonly lateSystem: "taken" | "user";
  /**
   * Whether texts of white space are sent: all of them, none, or those that stand beside something else in their message. If a
   * blank message is left out, blank questions and results are marked.
   */
  readonly blank: "sent" | "beside others" | "left out";
  /** The roles that a user message may follow only after an assistant message, which is a mark then. */
  readonly noUserAfter: readonly ("tool" | "user")[];
  /** Whether a prompt may begin with a reply, as that of a thread that was seeded with a greeting, or only after a marked question. */
  readonly firstReply: "taken" | "marked";
  /** Whether a refusal has a field of its own, or is a text. */
  readonly refusals: "field" | "text";
  /**
   * The provider fields that it takes: of replies that it wrote itself, and of messages whose origin nobody recorded. Fields
   * that came from another server are never sent.
   */
  readonly fields: "all" | readonly string[];
  /** Whether it takes back every field of the replies that are known to be its own. */
  readonly ownFields: boolean;
  /** The field of reasoning that each reply with calls must have, empty if there is none to send; null for no such field. */
  readonly owedReasoning: string | null;
  /** Fields that the first call of a reply gets if it has none of its own; null for none. */
  readonly owedOfCall: JsonObject | null;
  /** Whether schemas of tools are completed (`type`, `properties`, `items`), or sent as they are. */
  readonly schemas: "completed" | "as given";
}

/** Makes a dialect from what is different from the strictest common form. */
export const dialect = (name: string, differences: Partial<Omit<Dialect, "name">> = {}): Dialect =>
  Object.freeze({ ...strictest, ...differences, name });

const strictest: Omit<Dialect, "name"> = {
  // 40 is the longest id that OpenAI's chat completions take; Anthropic takes these characters only.
  callIds: "^[a-zA-Z0-9_-]{1,40}$",
  // https://platform.openai.com/docs/api-reference/chat/create (tools.function.name); Gemini wants a letter or `_` first.
  toolNames: "^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$",
  messageNames: "^[a-zA-Z0-9_-]{1,64}$",
  texts: "joined",
  images: "of users",
  // OpenAI alone documents the other role; templates of open models raise an exception for it.
  developers: "system",
  // Templates of open models: "System message must be at the beginning" (QwenLM/Qwen3.8 issues 164 and 244).
  lateSystem: "user",
  blank: "left out",
  noUserAfter: [],
  // "The first message (except the system message) of deepseek-reasoner must be a user message"; Anthropic's says the same.
  firstReply: "marked",
  refusals: "text",
  fields: [],
  ownFields: false,
  owedReasoning: null,
  owedOfCall: null,
  schemas: "completed",
};

/** Of servers that nothing is known of: what all of the others take. Fields go back to where they are known to come from. */
export const common: Dialect = dialect("common", { ownFields: true });
