import { isFields, textOf } from "../rules/json.ts";
import { callsOf, eachMessage, eachPart, type Family, type Rule } from "../rules/rule.ts";
import { argumentsAreObjects, eachSchema, everywhere } from "../rules/common-rules.ts";

/** Not a rule of the servers: the template of Qwen 3.5 and later models raises it. */
const oneSystem: Rule = eachMessage(
  "one system message",
  "https://github.com/duolahypercho/codex-router/pull/259",
  ({ role }, index) =>
    role === "system" && index > 0 ? { message: "System message must be at the beginning." } : null,
);

const llamaSource = "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-common.cpp";

const ofLlamaCpp: readonly Rule[] = [
  ...everywhere,
  oneSystem,
  eachMessage("content of messages", `${llamaSource} (oaicompat_chat_params_parse)`, (message, index) => {
    const { role, content } = message;
    if (content !== undefined && content !== null) return null;
    if (role !== "assistant") return { message: "All non-assistant messages must contain 'content'" };
    return callsOf(message, index).length > 0
      ? null
      : { message: "Assistant message must contain either 'content' or 'tool_calls'!" };
  }),
  eachPart("types of parts", `${llamaSource} (oaicompat_chat_params_parse)`, ({ type }, { role }) => {
    if (type === "text") return null;
    if (type !== "image_url" && type !== "input_audio") return { message: "unsupported content[].type" };
    // Not the server's own rule: the templates of models write images of users alone.
    return role === "user" ? null : { status: 500, message: "image input is only supported in user messages" };
  }),
  argumentsAreObjects(
    "https://github.com/OpenHands/software-agent-sdk/issues/2887, https://github.com/ggml-org/llama.cpp (common/chat.cpp)",
    (_, written) => ({
      status: 500,
      message: `Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error: syntax error while parsing value; last read: '${written}'`,
      type: "server_error",
    }),
  ),
  eachSchema(
    "https://github.com/ggml-org/llama.cpp/issues/26930",
    ({ not, pattern }) => {
      if (isFields(not) && Object.keys(not).length === 0) return 'Unrecognized schema: {"not":{}}';
      return pattern === undefined || /^\^.*\$$/s.test(textOf(pattern))
        ? null
        : "Pattern must start with '^' and end with '$'";
    },
    (problem) => ({ message: `JSON schema conversion failed:\n${problem}` }),
  ),
];

export const llamaCpp: Family = {
  rules: () => ofLlamaCpp,
  bodyOf: ({ message, status = 400, type = "invalid_request_error" }) => ({ error: { code: status, message, type } }),
};

const ollamaSource = "https://github.com/ollama/ollama/blob/main/openai/openai.go (FromChatRequest)";

const ofOllama: readonly Rule[] = [
  ...everywhere,
  eachMessage("content of messages", ollamaSource, (message, index) =>
    typeof message["content"] === "string" || Array.isArray(message["content"]) || callsOf(message, index).length > 0
      ? null
      : { message: "invalid message content type: <nil>" },
  ),
  eachPart("types of parts", ollamaSource, ({ type }) =>
    type === "text" || type === "image_url" ? null : { message: "invalid message format" },
  ),
  eachPart("images", ollamaSource, ({ type, image_url: image }) => {
    if (type !== "image_url") return null;
    const url = textOf(isFields(image) ? image["url"] : image);
    return /^data:(image\/(jpeg|jpg|png|webp))?;base64,/.test(url) ? null : { message: "invalid image input" };
  }),
  argumentsAreObjects(ollamaSource, () => ({ message: "invalid tool call arguments" })),
];

export const ollama: Family = {
  rules: () => ofOllama,
  bodyOf: ({ message, type = "invalid_request_error" }) => ({ error: { message, type, param: null, code: null } }),
};

const ofVllm: readonly Rule[] = [
  ...everywhere,
  oneSystem,
  eachPart("types of parts", "https://github.com/vllm-project/vllm (entrypoints/chat_utils.py)", ({ type }) =>
    ["text", "refusal", "image_url", "input_audio", "video_url", "audio_url", "thinking"].includes(textOf(type))
      ? null
      : { message: `Unknown part type: ${textOf(type)}` },
  ),
  argumentsAreObjects("https://github.com/vllm-project/vllm/pull/48922 (before it)", (_, written) => ({
    message: `Unterminated string or no object in the arguments of a tool call: ${written}`,
  })),
];

export const vllm: Family = {
  rules: () => ofVllm,
  bodyOf: ({ message, status = 400 }) => ({ error: { message, type: "BadRequestError", param: null, code: status } }),
};
