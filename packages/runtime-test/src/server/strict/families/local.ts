import { isFields, textOf } from "../rules/json.ts";
import { callsOf, eachMessage, eachPart, type Family, type Rule } from "../rules/rule.ts";
import { argumentsAreObjects, eachSchema, everywhere } from "../rules/common-rules.ts";
import { openaiError } from "./openai-chat.ts";

/** Not a rule of the servers: the template of Qwen 3.5 and later models raises it. */
const oneSystem: Rule = eachMessage(
  "one system message",
  "https://github.com/duolahypercho/codex-router/pull/259",
  ({ role }, index) => role === "system" && index > 0 && "System message must be at the beginning.",
);

const llamaSource = "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/server-common.cpp";

const ofLlamaCpp: readonly Rule[] = [
  ...everywhere,
  oneSystem,
  eachMessage("content of messages", `${llamaSource} (oaicompat_chat_params_parse)`, (message, index) => {
    const { role, content } = message;
    if (content !== undefined && content !== null) return null;
    if (role !== "assistant") return "All non-assistant messages must contain 'content'";
    return callsOf(message, index).length === 0 && "Assistant message must contain either 'content' or 'tool_calls'!";
  }),
  eachPart("types of parts", `${llamaSource} (oaicompat_chat_params_parse)`, ({ type }, { role }) => {
    if (type === "text") return null;
    if (type !== "image_url" && type !== "input_audio") return "unsupported content[].type";
    // Not the server's own rule: the templates of models write images of users alone.
    return role !== "user" && { status: 500, message: "image input is only supported in user messages" };
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
      const isWhole = pattern === undefined || /^\^.*\$$/s.test(textOf(pattern));
      return !isWhole && "Pattern must start with '^' and end with '$'";
    },
    (problem) => `JSON schema conversion failed:\n${problem}`,
  ),
];

export const llamaCpp: Family = {
  rules: () => ofLlamaCpp,
  bodyOf: ({ message, status = 400, type = "invalid_request_error" }) => ({ error: { code: status, message, type } }),
};

const ollamaSource = "https://github.com/ollama/ollama/blob/main/openai/openai.go (FromChatRequest)";

const ofOllama: readonly Rule[] = [
  ...everywhere,
  eachMessage("content of messages", ollamaSource, (message, index) => {
    const { content } = message;
    const isThere = typeof content === "string" || Array.isArray(content) || callsOf(message, index).length > 0;
    return !isThere && "invalid message content type: <nil>";
  }),
  eachPart(
    "types of parts",
    ollamaSource,
    ({ type }) => type !== "text" && type !== "image_url" && "invalid message format",
  ),
  eachPart("images", ollamaSource, ({ type, image_url: image }) => {
    if (type !== "image_url") return null;
    const url = textOf(isFields(image) ? image["url"] : image);
    return !/^data:(image\/(jpeg|jpg|png|webp))?;base64,/.test(url) && "invalid image input";
  }),
  argumentsAreObjects(ollamaSource, () => "invalid tool call arguments"),
];

export const ollama: Family = {
  rules: () => ofOllama,
  bodyOf: ({ message, type = "invalid_request_error" }) => ({ error: { message, type, param: null, code: null } }),
};

const ofVllm: readonly Rule[] = [
  ...everywhere,
  oneSystem,
  eachPart("types of parts", "https://github.com/vllm-project/vllm (entrypoints/chat_utils.py)", ({ type }) => {
    const known = ["text", "refusal", "image_url", "input_audio", "video_url", "audio_url", "thinking"];
    return !known.includes(textOf(type)) && `Unknown part type: ${textOf(type)}`;
  }),
  argumentsAreObjects(
    "https://github.com/vllm-project/vllm/pull/48922 (before it)",
    (_, written) => `Unterminated string or no object in the arguments of a tool call: ${written}`,
  ),
];

export const vllm: Family = {
  rules: () => ofVllm,
  bodyOf: ({ message, status = 400 }) => ({ error: { message, type: "BadRequestError", param: null, code: status } }),
};

const reasoning: Rule = eachMessage(
  "reasoning beside calls",
  "https://github.com/continuedev/continue/issues/11600",
  (message, index) =>
    callsOf(message, index).length > 0 &&
    typeof message["reasoning_content"] !== "string" &&
    `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
);

const flavoured: Rule = eachSchema(
  "https://github.com/MoonshotAI/walle/blob/main/docs/mfjs-spec.md, https://github.com/MoonshotAI/kimi-code/issues/2661",
  (schema, at) => {
    const { $ref, type, anyOf, enum: values, allOf, description } = schema;
    if ($ref !== undefined)
      return description !== undefined && `At path '${at}': conflicting keywords found after $ref expansion`;
    const isTyped = typeof type === "string" || values !== undefined || allOf !== undefined;
    if (anyOf === undefined) return !isTyped && `At path '${at}': type is not defined`;
    return (
      type !== undefined &&
      `At path '${at}': when using anyOf, type should be defined in anyOf items instead of the parent schema`
    );
  },
  (problem) =>
    `Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <${problem}>`,
);

/** Moonshot's API, whose models think unless a request forbids it. */
export const kimi: Family = {
  rules: (request) => {
    const { thinking } = request;
    const thinks = !isFields(thinking) || thinking["type"] !== "disabled";
    return [...vllm.rules(request), flavoured, ...(thinks ? [reasoning] : [])];
  },
  bodyOf: openaiError,
};
