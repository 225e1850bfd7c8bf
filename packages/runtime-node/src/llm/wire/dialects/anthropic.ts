import { type Dialect, dialect } from "./dialect.ts";

/**
 * Models of Anthropic behind chat completions: https://platform.claude.com/docs/en/api/openai-sdk, LiteLLM, Bedrock's gateways.
 * - ids: "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", and "`tool_use` ids must be unique"
 * - blank: "text content blocks must be non-empty", "must contain non-whitespace text"
 * - images: BerriAI/litellm, convert_to_anthropic_tool_result takes image_url in the message of a tool
 * - names: the field is ignored; tools: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
 * - fields: https://docs.litellm.ai/docs/reasoning_content (thinking_blocks), cache_control
 */
export const anthropic: Dialect = dialect("anthropic", {
  callIds: "^[a-zA-Z0-9_-]{1,64}$",
  toolNames: "^[a-zA-Z0-9_-]{1,64}$",
  texts: "listed",
  images: "everywhere",
  fields: ["thinking_blocks", "reasoning_content", "cache_control"],
});
