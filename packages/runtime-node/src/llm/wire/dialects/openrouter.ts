import { type Dialect, dialect } from "./dialect.ts";

/**
 * OpenRouter, and gateways that write for each provider what it takes (Vercel's AI Gateway, the router of Hugging Face).
 * - images: messages of tools with image_url are answered (recordings of ruby_llm, claude-haiku-4.5)
 * - developers: answered, whatever the model (recordings of ruby_llm)
 * - ids: they pass, such as `functions.add:0` of Kimi
 * - fields: https://openrouter.ai/docs/use-cases/reasoning-tokens (reasoning_details unchanged),
 *   https://openrouter.ai/docs/features/prompt-caching (cache_control)
 */
export const openrouter: Dialect = dialect("openrouter", {
  callIds: "^.+$",
  texts: "listed",
  images: "everywhere",
  developers: "own role",
  fields: ["reasoning_details", "reasoning", "reasoning_content", "cache_control", "extra_content"],
});

/** The router with a provider behind it: names, roles, refusals and fields are the router's own. */
export const openrouterTo = (provider: Dialect): Dialect =>
  dialect(`openrouter-${provider.name}`, {
    ...provider,
    messageNames: openrouter.messageNames,
    refusals: openrouter.refusals,
    developers: openrouter.developers,
    fields: openrouter.fields,
    owedReasoning: null,
  });
