import { type Fields, textOf, firstOf, isFields, parsedJson } from "./rules/json.ts";
import { type Family, messagesOf, refusalBy } from "./rules/rule.ts";
import { anthropic, anthropicMessages } from "./families/anthropic.ts";
import { deepseek } from "./families/deepseek.ts";
import { gemini } from "./families/gemini.ts";
import { kimi, vllm, llamaCpp, ollama } from "./families/local.ts";
import { mistral } from "./families/mistral.ts";
import { openaiChat, groq, textCompletions } from "./families/openai-chat.ts";
import { openaiResponses } from "./families/openai-responses.ts";

/** Whose rules hold behind it, by the author that a model's name begins with. */
const providers: { readonly [author: string]: Family } = {
  anthropic,
  deepseek,
  google: gemini,
  mistralai: mistral,
  moonshotai: kimi,
  openai: openaiChat,
};

/** The router takes out members that a provider does not know. */
const membersOfMessages = "members of messages";

/** Only OpenAI's models know developers. */
const asSystem = (message: Fields): Fields =>
  message["role"] === "developer" ? { ...message, role: "system" } : message;

/** A router: its own errors around the rules of the provider that answers. */
const openrouter: Family = {
  rules: (request) => {
    const author = textOf(request["model"]).split("/")[0] ?? "";
    const provider = Object.hasOwn(providers, author) ? providers[author] : undefined;
    const translated = { ...request, messages: messagesOf(request).map(asSystem) };
    return (provider ?? vllm)
      .rules(request)
      .filter(({ name }) => name !== membersOfMessages)
      .map((rule) => ({ ...rule, refuse: () => rule.refuse(translated) }));
  },
  // https://openrouter.ai/docs/api-reference/errors
  bodyOf: ({ message, status = 400 }) => ({
    error: { message: "Provider returned error", code: status, metadata: { raw: message } },
  }),
};

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
  return firstOf(rules(request), (rule) => {
    const refusal = refusalBy(rule, request);
    if (refusal === null) return null;
    const { status = 400, message } = refusal;
    return { family, rule: rule.name, source: rule.source, status, message, body: bodyOf(refusal) };
  });
};
