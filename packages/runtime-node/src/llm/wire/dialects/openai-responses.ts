import { type Dialect, dialect } from "./dialect.ts";

/**
 * The Responses API of OpenAI, Azure and xAI.
 * - ids: at most 64 characters ("string_above_max_length", `input[1].call_id`)
 * - images: `function_call_output.output` takes input_image and input_file
 * - fields: encrypted reasoning, ids and phases go back (https://platform.openai.com/docs/guides/reasoning)
 */
export const openaiResponses: Dialect = dialect("openai-responses", {
  callIds: "^.{1,64}$",
  toolNames: "^[a-zA-Z0-9_-]{1,64}$",
  messageNames: null,
  texts: "listed",
  images: "everywhere",
  developers: "own role",
  blank: "sent",
  refusals: "field",
  fields: "all",
});
