import { common, type Dialect, dialect } from "./dialect.ts";

/**
 * Chat completions of OpenAI and Azure.
 * - ids: at most 40 characters ("string_above_max_length", `messages[1].tool_calls[0].id`)
 * - images: "Image URLs are only allowed for messages with role 'user'"
 * - names: https://platform.openai.com/docs/api-reference/chat/create, and the error "does not match '^[^\s<|\\/>]+$'"
 * - schemas: "object schema missing properties", "array schema missing items"
 * - fields: https://platform.openai.com/docs/api-reference/chat/create (assistant message: audio, function_call, refusal;
 *   `type`: calls of custom tools)
 */
const openaiChat: Dialect = dialect("openai-chat", {
  callIds: "^.{1,40}$",
  toolNames: "^[a-zA-Z0-9_-]{1,64}$",
  messageNames: "^[^\\s<|\\\\/>]{1,64}$",
  texts: "listed",
  lateSystem: "taken",
  developers: "own role",
  blank: "sent",
  firstReply: "taken",
  refusals: "field",
  fields: ["role", "function_call", "audio", "type"],
});

/**
 * The Responses API of OpenAI, Azure and xAI.
 * - ids: at most 64 characters ("string_above_max_length", `input[1].call_id`)
 * - images: `function_call_output.output` takes input_image and input_file
 * - fields: encrypted reasoning, ids and phases go back (https://platform.openai.com/docs/guides/reasoning)
 */
const openaiResponses: Dialect = dialect("openai-responses", {
  callIds: "^.{1,64}$",
  toolNames: "^[a-zA-Z0-9_-]{1,64}$",
  messageNames: null,
  texts: "listed",
  images: "everywhere",
  lateSystem: "taken",
  developers: "own role",
  blank: "sent",
  firstReply: "taken",
  refusals: "field",
  fields: "all",
});

/**
 * Models of Anthropic behind chat completions: https://platform.claude.com/docs/en/api/openai-sdk, LiteLLM, Bedrock's gateways.
 * - ids: "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", and "`tool_use` ids must be unique"
 * - blank: "text content blocks must be non-empty", "must contain non-whitespace text"
 * - images: BerriAI/litellm, convert_to_anthropic_tool_result takes image_url in the message of a tool
 * - names: the field is ignored; tools: "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
 * - fields: https://docs.litellm.ai/docs/reasoning_content (thinking_blocks), cache_control
 */
const anthropic: Dialect = dialect("anthropic", {
  callIds: "^[a-zA-Z0-9_-]{1,64}$",
  toolNames: "^[a-zA-Z0-9_-]{1,64}$",
  texts: "listed",
  images: "everywhere",
  lateSystem: "taken",
  fields: ["thinking_blocks", "reasoning_content", "cache_control"],
});

/**
 * Gemini's OpenAI endpoint: https://ai.google.dev/gemini-api/docs/openai.
 * - ids: any; gateways put thought signatures into them
 * - names of tools: "must start with a letter or an underscore", letters, digits, `_`, `.`, `:`, `-`, 64 at most
 * - blank: "contents.parts must not be empty"
 * - fields: https://ai.google.dev/gemini-api/docs/thought-signatures (extra_content, else 400 in Gemini 3; calls
 *   without one go with "skip_thought_signature_validator")
 */
const gemini: Dialect = dialect("gemini", {
  callIds: "^.+$",
  toolNames: "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$",
  texts: "listed",
  fields: ["extra_content"],
  owedOfCall: { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } },
});

/** Models before Gemini 3 need no signatures: LiteLLM sends the stand-in to Gemini 3 and newer ones only. */
const gemini2: Dialect = dialect("gemini-2", { ...gemini, owedOfCall: null });

/**
 * Mistral's API, and servers with its tokenizer.
 * - ids: "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9" (mistralai/mistral-common, validator.py)
 * - user after tool: "Unexpected role 'user' after role 'tool'" (the same file); pydantic-ai puts an assistant's "OK." between
 * - system: "Unexpected role 'system' after role 'assistant'" (the same file); a developer's message is no member of its union
 * - blank: "Assistant message must have either content or tool_calls, but not none."
 * - names: messages of users have no such field, and others are "Extra inputs are not permitted"
 * - fields: https://docs.mistral.ai/api (prefix), https://docs.mistral.ai/capabilities/reasoning (thinking, a part)
 */
const mistral: Dialect = dialect("mistral", {
  callIds: "^[a-zA-Z0-9]{9}$",
  messageNames: null,
  texts: "listed",
  noUserAfter: ["tool"],
  fields: ["prefix", "part"],
});

/**
 * Perplexity, and models whose templates want turns to alternate.
 * - user after user: "Conversation roles must alternate user/assistant/user/assistant/..." (simular-ai/Agent-S issue 70)
 */
const alternating: Dialect = dialect("alternating", { ...common, noUserAfter: ["user", "tool"] });

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
const deepseek: Dialect = dialect("deepseek", {
  images: "none",
  lateSystem: "taken",
  blank: "beside others",
  fields: ["reasoning_content", "prefix"],
  owedReasoning: "reasoning_content",
});

/**
 * Groq.
 * - fields: "'messages.1': property 'reasoning_content' is unsupported"; https://console.groq.com/docs/reasoning (reasoning)
 * - texts: "for 'role:tool' the following must be satisfied[('messages.6.content' : value must be a string)]"
 * - ids: any, such as `functions.weather:0` of Kimi
 */
const groq: Dialect = dialect("groq", {
  callIds: "^.+$",
  lateSystem: "taken",
  developers: "own role",
  blank: "beside others",
  fields: ["reasoning"],
});

/**
 * The server of llama.cpp (ggml-org/llama.cpp, common/chat.cpp and tools/server).
 * - arguments: "Failed to parse tool call arguments as JSON" (500)
 * - texts: common_chat_msgs_parse_oaicompat takes a list of texts
 * - images: oaicompat_chat_params_parse takes them of models that see, and templates show those of users
 * - fields: common_chat_msgs_parse_oaicompat reads reasoning_content
 */
const llamaCpp: Dialect = dialect("llama.cpp", {
  callIds: "^.+$",
  texts: "listed",
  blank: "beside others",
  fields: ["reasoning_content"],
});

/**
 * Ollama (ollama/ollama, openai/openai.go).
 * - arguments: "invalid tool call arguments" where they are not an object
 * - images: FromChatRequest reads image_url in a message of any role
 * - fields: Message has `reasoning`
 */
const ollama: Dialect = dialect("ollama", {
  callIds: "^.+$",
  texts: "listed",
  blank: "beside others",
  images: "everywhere",
  fields: ["reasoning"],
});

/**
 * vLLM (vllm-project/vllm, entrypoints/chat_utils.py).
 * - arguments: _postprocess_messages parses them, 400 where they are no JSON
 * - ids: make_tool_call_id writes `functions.weather:0` for Kimi K2, which wants it back
 * - images: _parse_chat_message_content takes parts of any role
 * - fields: reasoning_content and reasoning of an assistant are read
 */
const vllm: Dialect = dialect("vllm", {
  callIds: "^.+$",
  texts: "listed",
  blank: "beside others",
  images: "everywhere",
  fields: ["reasoning_content", "reasoning"],
});

/**
 * OpenRouter, and gateways that write for each provider what it takes (Vercel's AI Gateway, the router of Hugging Face).
 * - images: messages of tools with image_url are answered (recordings of ruby_llm, claude-haiku-4.5)
 * - developers: answered, whatever the model (recordings of ruby_llm)
 * - ids: they pass, such as `functions.add:0` of Kimi
 * - fields: https://openrouter.ai/docs/use-cases/reasoning-tokens (reasoning_details unchanged),
 *   https://openrouter.ai/docs/features/prompt-caching (cache_control)
 */
const openrouter: Dialect = dialect("openrouter", {
  callIds: "^.+$",
  texts: "listed",
  images: "everywhere",
  lateSystem: "taken",
  developers: "own role",
  fields: ["reasoning_details", "reasoning", "reasoning_content", "cache_control", "extra_content"],
});

/** The router with a provider behind it: names, roles, refusals and fields are the router's own. */
const openrouterTo = (provider: Dialect): Dialect =>
  dialect(`openrouter-${provider.name}`, {
    ...provider,
    messageNames: openrouter.messageNames,
    refusals: openrouter.refusals,
    developers: openrouter.developers,
    fields: openrouter.fields,
    owedReasoning: null,
  });

/** Nothing is changed but what no server takes: arguments that are not an object, ids that repeat, half characters. */
const lenient: Dialect = dialect("lenient", {
  callIds: "^[^]+$",
  toolNames: "^[^]+$",
  messageNames: "^[^]+$",
  texts: "listed",
  images: "everywhere",
  lateSystem: "taken",
  developers: "own role",
  blank: "sent",
  firstReply: "taken",
  refusals: "field",
  fields: "all",
  schemas: "as given",
});

/** Text completions: the template writes what it is given, and a text has no place for images and files. */
const text: Dialect = dialect("text", { ...lenient, images: "none" });

/** The dialect of a model, wherever it is served. The first that fits counts. */
const models: Choices = [
  [/claude/, anthropic],
  [/gemini-[12]/, gemini2],
  [/gemini/, gemini],
  [/mi[sx]tral|codestral|devstral|magistral|pixtral/, mistral],
  [/kimi|deepseek-(vl|ocr)/, vllm],
  [/deepseek/, deepseek],
  [/(^|\/)(gpt-(?!oss)|chatgpt|o\d)/, openaiChat],
  [/gemma|sonar/, alternating],
];

const throughRouter: Choices = models.map(([pattern, provider]) => [pattern, openrouterTo(provider)]);

type Choices = readonly (readonly [pattern: RegExp, dialect: Dialect])[];

/** The dialect of a host. */
const hosts: Choices = [
  [/(^|\.)openai\.com$|(^|\.)azure\.com$/, openaiChat],
  [/(^|\.)anthropic\.com$/, anthropic],
  [/(^|\.)googleapis\.com$/, gemini],
  [/(^|\.)mistral\.ai$/, mistral],
  [/(^|\.)deepseek\.com$/, deepseek],
  [/(^|\.)groq\.com$/, groq],
  [/(^|\.)perplexity\.ai$/, alternating],
  [/(^|\.)ollama\.com$|:11434$/, ollama],
  [/(^|\.)openrouter\.ai$|^ai-gateway\.vercel\.sh$|^router\.huggingface\.co$/, openrouter],
];

/** The dialects of hosts that are different for some of their models. */
const byModel = new Map<Dialect, Choices>([
  [openrouter, throughRouter],
  [gemini, [[/gemini-[12]/, gemini2]]],
]);

const all = [common, openaiChat, openaiResponses, anthropic, gemini, gemini2, mistral, alternating, deepseek].concat(
  [groq, llamaCpp, ollama, vllm, openrouter],
  throughRouter.map(([, routed]) => routed),
  lenient,
  text,
);

/** The dialects that Colloquy has, by name. */
export const dialects: { readonly [name: string]: Dialect } = Object.freeze(
  Object.fromEntries(all.map((each) => [each.name, each])),
);

/** What a handler speaks: chat completions, the Responses API, text, or the AI SDK. */
export type Api = "chat" | "responses" | "text" | "ai-sdk";

/** Returns the dialect of a server, by its base URL and the model that is called there. */
export const dialectFor = (baseURL: string, model: string, api: Api = "chat"): Dialect => {
  if (api === "responses") return openaiResponses;
  if (api === "text") return text;
  const host = hostOf(baseURL);
  const name = model.toLowerCase();
  const served = hosts.find(([pattern]) => pattern.test(host))?.[1];
  const choices = served === undefined ? models : (byModel.get(served) ?? []);
  const family = choices.find(([pattern]) => pattern.test(name))?.[1] ?? served;
  // The providers of the AI SDK write images and reasoning as their servers take them.
  if (api === "ai-sdk") return { ...(family ?? common), ...ofProviders };
  return family ?? common;
};

const ofProviders = {
  name: "ai-sdk",
  texts: "listed",
  images: "everywhere",
  developers: "own role",
  blank: "left out",
  refusals: "field",
  fields: "all",
  owedReasoning: null,
  owedOfCall: null,
} as const;

/** Returns the host of a base URL with its port, in lower case; the text itself if it is not a URL. */
export const hostOf = (baseURL: string): string => {
  try {
    return new URL(baseURL).host;
  } catch {
    return baseURL.toLowerCase();
  }
};
