import { textOf } from "../rules/json.ts";
import { callsOf, eachMessage, eachPart, type Family, type Refusal, type Rule } from "../rules/rule.ts";
import { everywhere, idsMatch, onlyMembers, pairs, schemasAreObjects, toolNamesMatch } from "../rules/common-rules.ts";

const reference = "https://platform.openai.com/docs/api-reference/chat/create";

/** The error of OpenAI's API, which most others copy. */
export const openaiError: Family["bodyOf"] = ({ message, type = "invalid_request_error", param, code }) => ({
  error: { message, type, param: param ?? null, code: code ?? null },
});

/** Results and calls as OpenAI words it. */
export const openaiPairs: Rule = pairs(reference, {
  orphan: (_, index) => ({
    message:
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    param: `messages.[${index}].role`,
  }),
  unanswered: (ids, index) => ({
    message: `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
    param: `messages.[${index + 1}].role`,
  }),
});

/** Names as OpenAI takes them, and all who check them its way. */
export const openaiToolNames: readonly Rule[] = toolNamesMatch(
  `${reference}#chat-create-tools`,
  /^[a-zA-Z0-9_-]{1,64}$/,
  (name, at) =>
    name.length > 64
      ? tooLong(at, 64, name.length)
      : {
          message: `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
          param: at,
          code: "invalid_value",
        },
);

const tooLong = (at: string, max: number, length: number): Refusal => ({
  message: `Invalid '${at}': string too long. Expected a string with maximum length ${max}, but got a string with length ${length} instead.`,
  param: at,
  code: "string_above_max_length",
});

const partTypes: { readonly [role: string]: readonly string[] } = {
  system: ["text"],
  developer: ["text"],
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
  tool: ["text"],
};

const rules: readonly Rule[] = [
  ...everywhere,
  onlyMembers(
    reference,
    {
      system: ["content", "name"],
      developer: ["content", "name"],
      user: ["content", "name"],
      assistant: ["content", "name", "refusal", "audio", "tool_calls", "function_call", "annotations"],
      // A name is taken there, and not looked at.
      tool: ["content", "tool_call_id", "name"],
      function: ["content", "name"],
    },
    {
      member: (name, _, index) => ({
        message: `Unknown parameter: 'messages[${index}].${name}'.`,
        param: `messages[${index}].${name}`,
        code: "unknown_parameter",
      }),
      role: (role, index) => ({
        message: `Invalid value: '${role}'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.`,
        param: `messages[${index}].role`,
        code: "invalid_value",
      }),
    },
  ),
  eachMessage("content of messages", reference, (message, index) => {
    const { role, content, refusal, audio, function_call: called } = message;
    const stands = role === "assistant" && [refusal, audio, called].some((each) => each !== undefined && each !== null);
    const isMissing = content === undefined || content === null;
    return isMissing && !stands && callsOf(message, index).length === 0
      ? {
          message: "Invalid value for 'content': expected a string, got null.",
          param: `messages.[${index}].content`,
        }
      : null;
  }),
  // https://github.com/openai/openai-node/issues/1030, https://github.com/OpenHands/OpenHands/issues/7700
  eachPart("images", "https://github.com/OpenHands/OpenHands/issues/7700", (part, { role }, _, index) =>
    part["type"] === "image_url" && role !== "user"
      ? {
          message: `Invalid 'messages[${index}]'. Image URLs are only allowed for messages with role 'user', but this message with role '${textOf(role)}' contains an image URL.`,
          param: `messages[${index}]`,
          code: "invalid_value",
        }
      : null,
  ),
  eachPart("types of parts", `${reference}#chat-create-messages`, ({ type }, { role }, at) => {
    const known = partTypes[textOf(role)] ?? ["text"];
    return known.includes(textOf(type))
      ? null
      : {
          message: `Invalid value: '${textOf(type)}'. Supported values are: ${known.map((each) => `'${each}'`).join(", ")}.`,
          param: `${at}.type`,
          code: "invalid_value",
        };
  }),
  openaiPairs,
  // 40 is what most hosts of these models still say: https://github.com/vercel/ai/issues/5171; OpenAI's own says 64 by now.
  idsMatch("https://github.com/microsoft/autogen/issues/6377", /^[^]{1,40}$/, (id, at) => tooLong(at, 40, id.length)),
  eachMessage("names of speakers", `${reference}#chat-create-messages`, ({ name, role }, index) => {
    const at = `messages[${index}].name`;
    if (name === undefined || name === null || role === "tool") return null;
    if (textOf(name).length > 64) return tooLong(at, 64, textOf(name).length);
    return /^[^\s<|\\/>]+$/.test(textOf(name))
      ? null
      : {
          message: `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '^[^\\s<|\\\\/>]+$'.`,
          param: at,
          code: "invalid_value",
        };
  }),
  ...openaiToolNames,
  schemasAreObjects("https://github.com/openai/openai-agents-python/issues/449"),
  {
    name: "number of tools",
    source: `${reference}#chat-create-tools`,
    refuse: ({ tools }) =>
      Array.isArray(tools) && tools.length > 128
        ? {
            message: `Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length ${tools.length} instead.`,
            param: "tools",
            code: "array_above_max_length",
          }
        : null,
  },
];

export const openaiChat: Family = { rules: () => rules, bodyOf: openaiError };
