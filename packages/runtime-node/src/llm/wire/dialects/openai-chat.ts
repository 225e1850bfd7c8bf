import { type Dialect, dialect } from "./dialect.ts";

/**
 * Chat completions of OpenAI and Azure.
 * - ids: at most 40 characters ("string_above_max_length", `messages[1].tool_calls[0].id`)
 * - images: "Image URLs are only allowed for messages with role 'user'"
 * - names: https://platform.openai.com/docs/api-reference/chat/create, and the error "does not match '^[^\s<|\\/>]+$'"
 * - schemas: "object schema missing properties", "array schema missing items"
 * - fields: https://platform.openai.com/docs/api-reference/chat/create (assistant message: audio, function_call, refusal)
 */
export const openaiChat: Dialect = dialect("openai-chat", {
  callIds: "^.{1,40}$",
  toolNames: "^[a-zA-Z0-9_-]{1,64}$",
  messageNames: "^[^\\s<|\\\\/>]{1,64}$",
  texts: "listed",
  developers: "own role",
  blank: "sent",
  refusals: "field",
  fields: ["role", "function_call", "audio"],
});
