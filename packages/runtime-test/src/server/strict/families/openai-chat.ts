import { textOf } from "../rules/json.ts";
import { callsOf, eachMessage, eachPart, type Family, type Refusal, refusal, rule, type Rule } from "../rules/rule.ts";
import { everywhere, idsMatch, onlyMembers, pairs, schemasAreObjects, toolNamesMatch } from "../rules/common-rules.ts";

const reference = "https://platform.openai.com/docs/api-reference/chat/create";

/** The error of OpenAI's API, which most others copy. */
export const openaiError: Family["bodyOf"] = ({ message, type = "invalid_request_error", param, code }) => ({
  error: { message, type, param: param ?? null, code: code ?? null },
});

/** Results and calls as OpenAI words it. */
const openaiPairs: Rule = pairs(reference, {
  orphan: (_, index) =>
    refusal(
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      `messages.[${index}].role`,
    ),
  unanswered: (ids, index) =>
    refusal(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
      `messages.[${index + 1}].role`,
    ),
});

/** Names as OpenAI takes them, and all who check them its way. */
const openaiToolNames: readonly Rule[] = toolNamesMatch(
  `${reference}#chat-create-tools`,
  /^[a-zA-Z0-9_-]{1,64}$/,
  (name, at) => (name.length > 64 ? tooLong(at, 64, name.length) : mismatch(at)),
);

export const tooLong = (at: string, max: number, length: number): Refusal =>
  refusal(
    `Invalid '${at}': string too long. Expected a string with maximum length ${max}, but got a string with length ${length} instead.`,
    at,
    "string_above_max_length",
  );

const tooMany = (at: string, max: number, list: unknown): Refusal | false =>
  Array.isArray(list) &&
  list.length > max &&
  refusal(
    `Invalid '${at}': array too long. Expected an array with maximum length ${max}, but got an array with length ${list.length} instead.`,
    at,
    "array_above_max_length",
  );

/** Refuses a name that has not the form of those of tools. */
export const mismatch = (at: string, pattern = "^[a-zA-Z0-9_-]+$"): Refusal =>
  refusal(
    `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '${pattern}'.`,
    at,
    "invalid_value",
  );

export const unknownParameter = (at: string): Refusal =>
  refusal(`Unknown parameter: '${at}'.`, at, "unknown_parameter");

export const unsupported = (value: unknown, known: string, at: string): Refusal =>
  refusal(`Invalid value: '${textOf(value)}'. Supported values are: ${known}.`, at, "invalid_value");

export const quoted = (names: readonly string[]): string => names.map((name) => `'${name}'`).join(", ");

const membersOf = {
  system: ["content", "name"],
  developer: ["content", "name"],
  user: ["content", "name"],
  assistant: ["content", "name", "refusal", "audio", "tool_calls", "function_call", "annotations"],
  // A name is taken there, and not looked at.
  tool: ["content", "tool_call_id", "name"],
  function: ["content", "name"],
};

const partTypes: { readonly [role: string]: readonly string[] } = {
  system: ["text"],
  developer: ["text"],
  user: ["text", "image_url", "input_audio", "file"],
  assistant: ["text", "refusal"],
  tool: ["text"],
};

const rules: readonly Rule[] = [
  ...everywhere,
  onlyMembers(reference, membersOf, {
    member: (name, _, index) => unknownParameter(`messages[${index}].${name}`),
    role: (role, index) =>
      unsupported(
        role,
        "'system', 'assistant', 'user', 'function', 'tool', and 'developer'",
        `messages[${index}].role`,
      ),
  }),
  eachMessage("content of messages", reference, (message, index) => {
    const { role, content, refusal: refused, audio, function_call: called } = message;
    const stands = role === "assistant" && [refused, audio, called].some((each) => each !== undefined && each !== null);
    const isMissing = (content ?? null) === null && !stands && callsOf(message, index).length === 0;
    const words = "Invalid value for 'content': expected a string, got null.";
    return isMissing && refusal(words, `messages.[${index}].content`);
  }),
  // https://github.com/openai/openai-node/issues/1030, https://github.com/OpenHands/OpenHands/issues/7700
  eachPart("images", "https://github.com/OpenHands/OpenHands/issues/7700", ({ type }, { role }, _, index) => {
    const at = `messages[${index}]`;
    const message = `Invalid '${at}'. Image URLs are only allowed for messages with role 'user', but this message with role '${textOf(role)}' contains an image URL.`;
    return type === "image_url" && role !== "user" && refusal(message, at, "invalid_value");
  }),
  eachPart("types of parts", `${reference}#chat-create-messages`, ({ type }, { role }, at) => {
    const known = partTypes[textOf(role)] ?? ["text"];
    return !known.includes(textOf(type)) && unsupported(type, quoted(known), `${at}.type`);
  }),
  openaiPairs,
  // 40 is what most hosts of these models still say: https://github.com/vercel/ai/issues/5171; OpenAI's own says 64 by now.
  idsMatch("https://github.com/microsoft/autogen/issues/6377", /^[^]{1,40}$/, (id, at) => tooLong(at, 40, id.length)),
  eachMessage("names of speakers", `${reference}#chat-create-messages`, ({ name, role }, index) => {
    const at = `messages[${index}].name`;
    if (name === undefined || name === null || role === "tool") return null;
    if (textOf(name).length > 64) return tooLong(at, 64, textOf(name).length);
    return !/^[^\s<|\\/>]+$/.test(textOf(name)) && mismatch(at, "^[^\\s<|\\\\/>]+$");
  }),
  ...openaiToolNames,
  schemasAreObjects("https://github.com/openai/openai-agents-python/issues/449"),
  rule("number of tools", `${reference}#chat-create-tools`, ({ tools }) => tooMany("tools", 128, tools)),
];

export const openaiChat: Family = { rules: () => rules, bodyOf: openaiError };

const unsatisfied = (role: string, index: number, what: string): string =>
  `'messages.${index}' : for 'role:${role}' the following must be satisfied[(${what})]`;

const ofGroq: readonly Rule[] = [
  ...everywhere,
  onlyMembers(
    "https://github.com/janhq/jan/issues/8136, https://github.com/musistudio/llms/pull/64",
    { ...membersOf, assistant: ["content", "name", "tool_calls", "function_call", "reasoning"] },
    {
      member: (name, role, index) =>
        unsatisfied(role, index, `'messages.${index}' : property '${name}' is unsupported`),
      role: (_, index) => `'messages.${index}' : discriminator property 'role' has invalid value`,
    },
  ),
  eachMessage(
    "reasoning of other models",
    "https://github.com/vercel/ai/pull/8057",
    ({ reasoning = null }, index) =>
      reasoning !== null && `messages[${index}].reasoning: reasoning is not supported with this model`,
  ),
  eachMessage(
    "content of messages",
    // https://github.com/livekit/agents/issues/1790, https://github.com/OpenHands/OpenHands/pull/9759
    "https://github.com/OpenHands/OpenHands/issues/4643",
    (message, index) => {
      const { role, content } = message;
      const isOptional = role === "assistant" && callsOf(message, index).length > 0;
      const isTaken = typeof content === "string" || (role === "user" && Array.isArray(content));
      const isFine = isTaken || (isOptional && (content === undefined || content === null));
      return !isFine && unsatisfied(textOf(role), index, `'messages.${index}.content' : value must be a string`);
    },
  ),
  openaiPairs,
  ...openaiToolNames,
];

/** Only models that reason take a reply's `reasoning`. */
const reasons = (model: unknown): boolean => /gpt-oss|qwen|deepseek/.test(textOf(model));

export const groq: Family = {
  rules: ({ model }) => (reasons(model) ? ofGroq.filter(({ name }) => name !== "reasoning of other models") : ofGroq),
  bodyOf: openaiError,
};

const completions = "https://platform.openai.com/docs/api-completions/completions/create";

const ofText: readonly Rule[] = [
  ...everywhere.slice(0, 1),
  rule("prompt", completions, ({ prompt }) => {
    return textOf(prompt) === "" && refusal("Invalid 'prompt': empty string.", "prompt", "empty_string");
  }),
  rule("stop strings", `${completions}#completions-create-stop`, ({ stop }) => tooMany("stop", 4, stop)),
];

/** Text completions, whose prompt is one text. */
export const textCompletions: Family = { rules: () => ofText, bodyOf: openaiError };
