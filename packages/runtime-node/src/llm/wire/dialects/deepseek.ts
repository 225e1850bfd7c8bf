import { type Dialect, dialect } from "./dialect.ts";

/**
 * DeepSeek's API, and its models elsewhere.
 * - texts: "invalid type: sequence, expected a string"
 * - images: "unknown variant `image_url`, expected `text`" (browser-use/web-ui issue 99)
 * - developers: "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`"
 * - blank: "Invalid assistant message: content or tool_calls must be set"
 * - fields: https://api-docs.deepseek.com/guides/thinking_mode: reasoning_content of turns with tools must come back,
 *   an empty one too ("Missing reasoning_content field in the assistant message");
 *   https://api-docs.deepseek.com/guides/chat_prefix_completion (prefix)
 */
export const deepseek: Dialect = dialect("deepseek", {
  images: "none",
  blank: "beside others",
  fields: ["reasoning_content", "prefix"],
  owedReasoning: "reasoning_content",
});
