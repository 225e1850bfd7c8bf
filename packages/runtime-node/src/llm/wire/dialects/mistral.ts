import { type Dialect, dialect } from "./dialect.ts";

/**
 * Mistral's API, and servers with its tokenizer.
 * - ids: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9" (mistralai/mistral-common, validator.py)
 * - user after tool: "Unexpected role 'user' after role 'tool'" (the same file); pydantic-ai puts an assistant's "OK." between
 * - system: "Unexpected role 'system' after role 'assistant'" (the same file); a developer's message is no member of its union
 * - blank: "Assistant message must have either content or tool_calls, but not none."
 * - names: messages of users have no such field, and others are "Extra inputs are not permitted"
 * - fields: https://docs.mistral.ai/api (prefix), https://docs.mistral.ai/capabilities/reasoning (thinking, a part)
 */
export const mistral: Dialect = dialect("mistral", {
  callIds: "^[a-zA-Z0-9]{9}$",
  messageNames: null,
  texts: "listed",
  userAfterTool: "marked",
  lateSystem: "user",
  fields: ["prefix", "part"],
});
