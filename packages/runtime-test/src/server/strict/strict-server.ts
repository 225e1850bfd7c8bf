import { anthropic, anthropicMessages } from "./families/anthropic.ts";
import { deepseek } from "./families/deepseek.ts";
import { gemini } from "./families/gemini.ts";
import { groq } from "./families/groq.ts";
import { kimi } from "./families/kimi.ts";
import { llamaCpp, ollama, vllm } from "./families/local.ts";
import { mistral } from "./families/mistral.ts";
import { openaiChat } from "./families/openai-chat.ts";
import { openaiResponses } from "./families/openai-responses.ts";
import { openrouter } from "./families/openrouter.ts";
import { textCompletions } from "./families/text.ts";
import { type Fields, firstOf, isFields, parsedJson } from "./rules/json.ts";
import type { Family } from "./rules/rule.ts";

/**
 * A family of servers, by what it refuses. `anthropic` is Claude behind a gateway that speaks chat completions,
 * `anthropic-messages` its own API, and `gemini` is Google's endpoint for OpenAI's clients.
 */
export type StrictFamily =
  | "openai-chat"
  | "openai-responses"
  | "anthropic"
  | "anthropic-messages"
  | "gemini"
  | "mistral"
  | "deepseek"
  | "groq"
  | "llama.cpp"
  | "ollama"
  | "vllm"
  | "kimi"
  | "openrouter"
  | "text-completions";

const families: { readonly [Name in StrictFamily]: Family } = {
  "openai-chat": openaiChat,
  "openai-responses": openaiResponses,
  anthropic,
  "anthropic-messages": anthropicMessages,
  gemini,
  mistral,
  deepseek,
  groq,
  "llama.cpp": llamaCpp,
  ollama,
  vllm,
  kimi,
  openrouter,
  "text-completions": textCompletions,
};

/** The names of all families. */
// The keys of an object of ours.
export const strictFamilies: readonly StrictFamily[] = Object.keys(families) as StrictFamily[];

/** Why a server of a family refuses a request. */
export interface StrictRefusal {
  readonly family: StrictFamily;
  readonly rule: string;
  /** Where it is written that servers of the family refuse it. */
  readonly source: string;
  readonly status: number;
  readonly message: string;
  /** The body of the answer, in the family's own shape. */
  readonly body: object;
}

/**
 * Returns how a server of a family refuses the body of a request, or null if it takes it. Only what the messages and tools
 * are made of is looked at, not the parameters of models.
 *
 * ```ts
 * const refusal = strictRefusal("mistral", body); // null, or { rule: "ids of calls", status: 400, message: "Tool call id was …" }
 * ```
 */
export const strictRefusal = (family: StrictFamily, body: string): StrictRefusal | null => {
  const { rules, bodyOf } = families[family];
  const parsed = parsedJson(body);
  const request: Fields = isFields(parsed) ? parsed : {};
  return firstOf(rules(request), ({ name, source, refuse }) => {
    const refusal = refuse(request);
    return refusal === null
      ? null
      : {
          family,
          rule: name,
          source,
          status: refusal.status ?? 400,
          message: refusal.message,
          body: bodyOf(refusal),
        };
  });
};
