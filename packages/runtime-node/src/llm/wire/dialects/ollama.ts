import { type Dialect, dialect } from "./dialect.ts";

/**
 * Ollama (ollama/ollama, openai/openai.go).
 * - arguments: "invalid tool call arguments" where they are not an object
 * - images: FromChatRequest reads image_url in a message of any role
 * - fields: Message has `reasoning`
 */
export const ollama: Dialect = dialect("ollama", {
  callIds: "^.+$",
  texts: "listed",
  blank: "beside others",
  images: "everywhere",
  fields: ["reasoning"],
});
