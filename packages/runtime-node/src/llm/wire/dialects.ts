import type { JsonObject } from "@colloquy/machine";

/**
 * States what a family of servers takes in the messages and tools of a request. A plain value: `JSON.stringify` shows all of
 * it, and `{ ...dialect, name: "ours", texts: "joined" }` is another one. Patterns are the sources of regular expressions.
 */
export interface Dialect {
  readonly name: string;
  /** The ids of tool calls. An id that does not match, or that an earlier call of the prompt has, is replaced on the wire. */
  readonly callIds: string;
  /** The names of tools. A name that does not match is replaced on the wire, and comes back as it was. */
  readonly toolNames: string;
  /** The keys of properties in schemas of tools; null for any. One that does not match is replaced as the name of a tool is. */
  readonly propertyKeys: string | null;
  /** The names of speakers, with other characters replaced by `_`; null leaves names out. */
  readonly messageNames: string | null;
  /** Whether several texts of a message stay a list of parts, or become one string. */
  readonly texts: "listed" | "joined";
  /**
   * Which messages have images and files: all, those of users, or none. If only users have them, those of a tool's result
   * follow its round in a message of the user. All others that are not taken are named in a text.
   */
  readonly images: "everywhere" | "of users" | "none";
  /** The types of parts, beside texts and images, that it takes. Others are named in a text. */
  readonly files: "all" | readonly string[];
  /** Whether messages of developers have their own role, or that of the system. */
  readonly developers: "own role" | "system";
  /** Whether system messages may be anywhere. If not, those at the beginning become one, and later ones become a user's. */
  readonly systems: "anywhere" | "one";
  /**
   * Whether texts of white space are sent: all of them, none, or those beside something else in their message. If a blank
   * message is left out, blank questions and results are marked.
   */
  readonly blank: "sent" | "beside others" | "left out";
  /** The roles that a user message may follow only after a mark as an assistant message. */
  readonly noUserAfter: readonly ("tool" | "user")[];
  /** Whether a prompt may begin with a reply, as after a seed with a greeting, or only after a marked question. */
  readonly firstReply: "taken" | "marked";
  /** Whether a reply may follow a reply: any, one without calls, or only after a marked question. */
  readonly replyAfterReply: "taken" | "without calls" | "marked";
  /** Whether a refusal has a field of its own, or is a text. */
  readonly refusals: "field" | "text";
  /** The provider fields that it takes of its own replies, and of messages of unrecorded origin. It gets no field of another server. */
  readonly fields: "all" | readonly string[];
  /** Whether it takes back every field of the replies that are known to be its own. */
  readonly ownFields: boolean;
  /** The field of reasoning that each reply of a turn with calls must have, if only empty; null for no such field. */
  readonly owedReasoning: string | null;
  /** Fields that the first call of a reply gets if it has none of its own; null for none. */
  readonly owedOfCall: JsonObject | null;
  /** Whether calls and results go as they are if the request offers no tools, or as texts. */
  readonly callsWithoutTools: "sent" | "text";
  /**
   * Whether schemas of tools are completed (`type`, `properties`, `items`), or sent as they are. Completed ones may also have
   * no lists of types, exactly one type in each schema, or patterns of whole texts.
   */
  readonly schemas: "completed" | "no type lists" | "one type each" | "whole patterns" | "as given";
}

/** The API of a handler: chat completions, the Responses API, text, or the AI SDK. */
export type Api = "chat" | "responses" | "text" | "ai-sdk";

/** Returns the dialect of a server, by its base URL and model. */
export const dialectFor = (baseURL: string, model: string, api: Api = "chat"): Dialect => {
  if (api === "responses") return openaiResponses;
  if (api === "text") return text;
  const host = hostOf(baseURL);
  const [, served, choices = []] = hosts.find(([each]) => each.test(host)) ?? [null, common, models];
  const family = choices.find(([each]) => each.test(model.toLowerCase()))?.[1] ?? served;
  // The providers of the AI SDK write images and reasoning as their servers take them.
  return api === "ai-sdk" ? { ...family, ...ofProviders } : family;
};

/** Returns the host of a base URL with its port, in lower case; the text itself if it is not a URL. */
export const hostOf = (baseURL: string): string => URL.parse(baseURL)?.host ?? baseURL.toLowerCase();

/** Makes a dialect from `base`, by its differences. Default base: `known`. */
const dialect = (name: string, differences: Partial<Dialect>, base: Dialect = known): Dialect =>
  Object.freeze({ ...base, ...differences, name });

/** For unknown servers: the strictest form, which nearly all take. Replies that are known to be theirs keep their fields. */
const common: Dialect = Object.freeze({
  name: "common",
  // 40 is the longest id that OpenAI's chat completions take; Anthropic takes these characters only.
  callIds: "^[a-zA-Z0-9_-]{1,40}$",
  // https://platform.openai.com/docs/api-reference/chat/create (tools.function.name); Gemini wants a letter or `_` first.
  toolNames: "^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$",
  propertyKeys: null,
  messageNames: "^[a-zA-Z0-9_-]{1,64}$",
  texts: "joined",
  images: "of users",
  // llama.cpp ("unsupported content[].type") and vLLM ("Unknown part type: file") are behind many servers.
  files: ["input_audio", "audio_url", "video_url"],
  // Only OpenAI documents the other role; templates of open models raise an exception for it.
  developers: "system",
  // Templates of open models: "System message must be at the beginning", of a second one too (QwenLM/Qwen3.8 issues 164 and
  // 244, duolahypercho/codex-router pull 259); MiniMax: "invalid chat setting (2013)" (MiniMax-AI/MiniMax-M2 issue 51).
  systems: "one",
  blank: "left out",
  noUserAfter: [],
  // "The first message (except the system message) of deepseek-reasoner must be a user message"; Anthropic's says the same.
  firstReply: "marked",
  replyAfterReply: "taken",
  refusals: "text",
  fields: [],
  ownFields: true,
  owedReasoning: null,
  owedOfCall: null,
  callsWithoutTools: "sent",
  // llama.cpp is behind many servers: "Pattern must start with '^' and end with '$'" (ggml-org/llama.cpp issue 26930).
  schemas: "whole patterns",
});

const anyId = "^.+$";

/** The base of known families. They take back only the fields that are listed, and most take lists of texts. */
const known: Dialect = { ...common, texts: "listed", files: "all", ownFields: false, schemas: "completed" };

/** Changes only what no server takes: arguments that are not an object, repeated ids, halves of surrogate pairs. */
const lenient = dialect("lenient", {
  systems: "anywhere",
  callIds: "^[^]+$",
  toolNames: "^[^]+$",
  messageNames: "^[^]+$",
  images: "everywhere",
  developers: "own role",
  blank: "sent",
  firstReply: "taken",
  refusals: "field",
  fields: "all",
  schemas: "as given",
});

/** Text completions: the template writes every message, and a text has no place for images and files. */
const text = dialect("text", { images: "none" }, lenient);

/** Chat completions of OpenAI and Azure. */
const openaiChat = dialect(
  "openai-chat",
  {
    // "string_above_max_length", `messages[1].tool_calls[0].id`
    callIds: "^.{1,40}$",
    toolNames: "^[a-zA-Z0-9_-]{1,64}$",
    // https://platform.openai.com/docs/api-reference/chat/create, and the error "does not match '^[^\s<|\\/>]+$'"
    messageNames: "^[^\\s<|\\\\/>]{1,64}$",
    // "Image URLs are only allowed for messages with role 'user'"
    images: "of users",
    // https://platform.openai.com/docs/api-reference/chat/create (assistant message); `type`: calls of custom tools
    fields: ["role", "function_call", "audio", "type"],
    // "object schema missing properties", "array schema missing items"
    schemas: "completed",
  },
  lenient,
);

/** The Responses API of OpenAI, Azure and xAI. */
const openaiResponses = dialect(
  "openai-responses",
  {
    // "string_above_max_length", `input[1].call_id`
    callIds: "^.{1,64}$",
    messageNames: null,
    // `function_call_output.output` takes input_image and input_file
    images: "everywhere",
    // Encrypted reasoning, ids and phases go back: https://platform.openai.com/docs/guides/reasoning
    fields: "all",
  },
  openaiChat,
);

/** Models of Anthropic behind chat completions: https://platform.claude.com/docs/en/api/openai-sdk, LiteLLM, Bedrock's gateways. */
const anthropic = dialect("anthropic", {
  // "The toolConfig field must be defined when using toolUse and toolResult content blocks" (BerriAI/litellm pull 31400)
  callsWithoutTools: "text",
  systems: "anywhere",
  // "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", and "`tool_use` ids must be unique". Blank messages, left out as
  // in `common`: "text content blocks must be non-empty", "must contain non-whitespace text". The field `name` is ignored.
  callIds: "^[a-zA-Z0-9_-]{1,64}$",
  // "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
  toolNames: "^[a-zA-Z0-9_-]{1,64}$",
  // "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
  propertyKeys: "^[a-zA-Z0-9_.-]{1,64}$",
  // BerriAI/litellm, convert_to_anthropic_tool_result takes image_url in the message of a tool
  images: "everywhere",
  // https://docs.litellm.ai/docs/reasoning_content (thinking_blocks), cache_control
  fields: ["thinking_blocks", "reasoning_content", "cache_control"],
});

/** Gemini's OpenAI endpoint: https://ai.google.dev/gemini-api/docs/openai. Blank messages: "contents.parts must not be empty". */
const gemini = dialect("gemini", {
  // "Proto field is not repeating, cannot start list" (zed-industries/zed issue 53919)
  schemas: "no type lists",
  // "function call turn comes immediately after a user turn or after a function response turn" (google-gemini/gemini-cli issue 11814)
  replyAfterReply: "without calls",
  // Gateways put thought signatures into them.
  callIds: anyId,
  // "must start with a letter or an underscore", letters, digits, `_`, `.`, `:`, `-`, 64 at most
  toolNames: "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$",
  // https://ai.google.dev/gemini-api/docs/thought-signatures: else 400 in Gemini 3
  fields: ["extra_content"],
  owedOfCall: { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } },
});

/** Models before Gemini 3 need no signatures: LiteLLM sends the stand-in to Gemini 3 and newer ones only. */
const gemini2 = dialect("gemini-2", { owedOfCall: null }, gemini);

/**
 * Mistral's API, and servers with its tokenizer (mistralai/mistral-common, validator.py). As in `common`: "Unexpected role 'system'
 * after role 'assistant'"; "Assistant message must have either content or tool_calls, but not none."; its union has no message
 * of a developer.
 */
const mistral = dialect("mistral", {
  // "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9"
  callIds: "^[a-zA-Z0-9]{9}$",
  // Messages of users have no such field, and others are "Extra inputs are not permitted".
  messageNames: null,
  // "Unexpected role 'user' after role 'tool'"; pydantic-ai puts an assistant's "OK." between
  noUserAfter: ["tool"],
  // https://docs.mistral.ai/api (prefix), https://docs.mistral.ai/capabilities/reasoning (thinking, a part)
  fields: ["prefix", "part"],
});

/** Perplexity, and models whose templates want "Conversation roles must alternate user/assistant/user/assistant/..." (simular-ai/Agent-S issue 70). */
const alternating = dialect("alternating", { noUserAfter: ["user", "tool"], replyAfterReply: "marked" }, common);

/** DeepSeek's API, and its models elsewhere. "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`" */
const deepseek = dialect("deepseek", {
  systems: "anywhere",
  // "invalid type: sequence, expected a string"
  texts: "joined",
  // "unknown variant `image_url`, expected `text`" (browser-use/web-ui issue 99)
  images: "none",
  // "Invalid assistant message: content or tool_calls must be set"
  blank: "beside others",
  // https://api-docs.deepseek.com/guides/chat_prefix_completion (prefix)
  fields: ["reasoning_content", "prefix"],
  // https://api-docs.deepseek.com/guides/thinking_mode: in all later requests, reasoning_content of every reply of a turn with
  // calls, the final one too and if only empty (openclaw/openclaw issue 73417, MoonshotAI/kimi-cli issue 2141); through
  // OpenRouter beside reasoning_details (UKGovernmentBEIS/inspect_ai issue 4079)
  owedReasoning: "reasoning_content",
  // Replies before the first call of their turn would owe it too.
  replyAfterReply: "without calls",
});

const groq = dialect("groq", {
  systems: "anywhere",
  // "for 'role:tool' the following must be satisfied[('messages.6.content' : value must be a string)]"
  texts: "joined",
  // Such as `functions.weather:0` of Kimi.
  callIds: anyId,
  developers: "own role",
  blank: "beside others",
  // https://console.groq.com/docs/reasoning; "'messages.1': property 'reasoning_content' is unsupported"
  fields: ["reasoning"],
});

/**
 * The server of llama.cpp (ggml-org/llama.cpp, common/chat.cpp and tools/server). Arguments: "Failed to parse tool call arguments
 * as JSON" (500). common_chat_msgs_parse_oaicompat takes a list of texts; oaicompat_chat_params_parse takes images of models
 * that see, and templates show those of users.
 */
const llamaCpp = dialect("llama.cpp", {
  callIds: anyId,
  files: ["input_audio"],
  blank: "beside others",
  // common_chat_msgs_parse_oaicompat reads it.
  fields: ["reasoning_content"],
  schemas: "whole patterns",
});

/**
 * Ollama (ollama/ollama, openai/openai.go): FromChatRequest reads image_url in a message of any role; Message has `reasoning`; other
 * arguments than an object are "invalid tool call arguments".
 */
const ollama = dialect(
  "ollama",
  { images: "everywhere", files: [], fields: ["reasoning"], schemas: "completed" },
  llamaCpp,
);

/**
 * vLLM (vllm-project/vllm, entrypoints/chat_utils.py): _postprocess_messages parses arguments, 400 where they are no JSON;
 * make_tool_call_id writes `functions.weather:0` for Kimi K2, which wants it back; _parse_chat_message_content takes images of
 * any role; both fields of an assistant are read.
 */
const vllm = dialect("vllm", { files: common.files, fields: ["reasoning_content", "reasoning"] }, ollama);

/** Moonshot's API, and the models of Kimi and MiMo elsewhere. */
const kimi = dialect(
  "kimi",
  {
    // "thinking is enabled but reasoning_content is missing in assistant tool call message" (continuedev/continue issue 11600,
    // https://platform.xiaomimimo.com/docs/en-US/usage-guide/passing-back-reasoning_content)
    owedReasoning: "reasoning_content",
    // "not a valid moonshot flavored json schema" (MoonshotAI/walle, docs/mfjs-spec.md)
    schemas: "one type each",
  },
  vllm,
);

/** OpenRouter, and gateways that write for each provider what it takes (Vercel's AI Gateway, the router of Hugging Face). */
const openrouter = dialect("openrouter", {
  systems: "anywhere",
  // They pass, such as `functions.add:0` of Kimi.
  callIds: anyId,
  // Messages of tools with image_url are answered (recordings of ruby_llm, claude-haiku-4.5), and so are developers.
  images: "everywhere",
  developers: "own role",
  // https://openrouter.ai/docs/use-cases/reasoning-tokens (reasoning_details unchanged),
  // https://openrouter.ai/docs/features/prompt-caching (cache_control)
  fields: ["reasoning_details", "reasoning", "reasoning_content", "cache_control", "extra_content"],
});

/** A provider behind OpenRouter: the router decides names, roles, refusals, fields and files; the provider the rest. */
const openrouterTo = (provider: Dialect): Dialect => {
  const { messageNames, refusals, developers, fields, files } = openrouter;
  return dialect(`openrouter-${provider.name}`, { messageNames, refusals, developers, fields, files }, provider);
};

type Choices = readonly (readonly [pattern: RegExp, dialect: Dialect])[];

/** The dialects of models, wherever they are served. The first match counts. */
const models: Choices = [
  [/claude/, anthropic],
  [/gemini-[12]/, gemini2],
  [/gemini/, gemini],
  [/mi[sx]tral|codestral|devstral|magistral|pixtral/, mistral],
  [/kimi|mimo/, kimi],
  [/deepseek-(vl|ocr)/, vllm],
  [/deepseek/, deepseek],
  [/(^|\/)(gpt-(?!oss)|chatgpt|o\d)/, openaiChat],
  [/gemma|sonar/, alternating],
];

const throughRouter: Choices = [...models, [/qwen|minimax/, vllm] as const].map(([pattern, provider]) => [
  pattern,
  openrouterTo(provider),
]);

/** The dialect of each host; after it, the models that have another one there. */
const hosts: readonly (readonly [pattern: RegExp, dialect: Dialect, models?: Choices])[] = [
  [/(^|\.)openai\.com$|(^|\.)azure\.com$/, openaiChat],
  [/(^|\.)anthropic\.com$/, anthropic],
  [/(^|\.)googleapis\.com$/, gemini, [[/gemini-[12]/, gemini2]]],
  [/(^|\.)mistral\.ai$/, mistral],
  [/(^|\.)deepseek\.com$/, deepseek],
  [/(^|\.)groq\.com$/, groq],
  [/(^|\.)(moonshot\.(ai|cn)|kimi\.com)$/, kimi],
  [/(^|\.)perplexity\.ai$/, alternating],
  [/(^|\.)ollama\.com$|:11434$/, ollama],
  [/(^|\.)openrouter\.ai$|^ai-gateway\.vercel\.sh$|^router\.huggingface\.co$/, openrouter, throughRouter],
];

const all = [common, openaiChat, openaiResponses, anthropic, gemini, gemini2, mistral, alternating, deepseek].concat(
  [groq, llamaCpp, ollama, vllm, kimi, openrouter],
  throughRouter.map(([, routed]) => routed),
  lenient,
  text,
);

/** The dialects of Colloquy, by name. */
export const dialects: { readonly [name: string]: Dialect } = Object.freeze(
  Object.fromEntries(all.map((each) => [each.name, each])),
);

const ofProviders = {
  name: "ai-sdk",
  texts: "listed",
  images: "everywhere",
  files: "all",
  developers: "own role",
  blank: "left out",
  refusals: "field",
  fields: "all",
  owedReasoning: null,
  owedOfCall: null,
  callsWithoutTools: "sent",
  schemas: "completed",
} as const;
