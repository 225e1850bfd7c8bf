import { type Dialect, dialect } from "./dialect.ts";

/**
 * Gemini's OpenAI endpoint: https://ai.google.dev/gemini-api/docs/openai.
 * - ids: any; gateways put thought signatures into them
 * - names of tools: "must start with a letter or an underscore", letters, digits, `_`, `.`, `:`, `-`, 64 at most
 * - blank: "contents.parts must not be empty"
 * - fields: https://ai.google.dev/gemini-api/docs/thought-signatures (extra_content, else 400 in Gemini 3; calls
 *   without one go with "skip_thought_signature_validator")
 */
export const gemini: Dialect = dialect("gemini", {
  callIds: "^.+$",
  toolNames: "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$",
  texts: "listed",
  fields: ["extra_content"],
  owedOfCall: { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } },
});

/** Models before Gemini 3 need no signatures: LiteLLM sends the stand-in to Gemini 3 and newer ones only. */
export const gemini2: Dialect = dialect("gemini-2", { ...gemini, owedOfCall: null });
