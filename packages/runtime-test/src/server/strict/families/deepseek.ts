import { type Fields, isFields, textOf } from "../rules/json.ts";
import { callsOf, eachMessage, eachPart, type Family, type Rule, saysNothing } from "../rules/rule.ts";
import { everywhere, idsDiffer, pairs, toolNamesMatch } from "../rules/common-rules.ts";
import { mismatch, openaiError } from "./openai-chat.ts";

const reference = "https://api-docs.deepseek.com/api/create-chat-completion";

const unreadable = (what: string): string => `Failed to deserialize the JSON body into the target type: ${what}`;

const known = ["system", "user", "assistant", "tool"];

const thinks = (request: Fields): boolean =>
  /reasoner|deepseek-v4/.test(textOf(request["model"])) ||
  (isFields(request["thinking"]) && request["thinking"]["type"] === "enabled");

const reasoning: Rule = eachMessage(
  "reasoning in turns with calls",
  "https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
  (message, index, all) =>
    message["role"] === "assistant" &&
    isOfToolTurn(all, index) &&
    typeof message["reasoning_content"] !== "string" &&
    "The `reasoning_content` in the thinking mode must be passed back to the API.",
);

/** Whether a message is between two questions with a call between them. */
const isOfToolTurn = (all: readonly Fields[], index: number): boolean => {
  const next = all.findIndex(({ role }, at) => at > index && role === "user");
  const turn = all.slice(
    all.findLastIndex(({ role }, at) => at < index && role === "user") + 1,
    next < 0 ? undefined : next,
  );
  return turn.some((each) => callsOf(each, 0).length > 0);
};

const firstMessage: Rule = eachMessage(
  "first message",
  "https://github.com/ChatGPTNextWeb/NextChat/issues/6343",
  ({ role }, index, all) =>
    role === "assistant" &&
    index === all.findIndex((each) => each["role"] !== "system") &&
    "The first message (except the system message) of deepseek-reasoner must be a user message, but an assistant message detected.",
);

const rules: readonly Rule[] = [
  ...everywhere,
  eachMessage("roles", reference, ({ role }, index) => {
    const [given, names] = [`\`${textOf(role)}\``, known.map((each) => `\`${each}\``).join(", ")];
    const words = `messages[${index}].role: unknown variant ${given}, expected one of ${names}`;
    return !known.includes(textOf(role)) && unreadable(words);
  }),
  // https://github.com/BerriAI/litellm/issues/6642
  eachMessage("lists of parts", "https://github.com/tailcallhq/forgecode/issues/2008", ({ role, content }, index) => {
    const words = `messages[${index}]: invalid type: sequence, expected a string`;
    return role !== "user" && Array.isArray(content) && unreadable(words);
  }),
  eachPart("images", "https://github.com/browser-use/web-ui/issues/99", ({ type }, _, __, index) => {
    const words = "data did not match any variant of untagged enum ChatCompletionRequestContent";
    return type !== "text" && unreadable(`messages[${index}]: ${words}`);
  }),
  eachMessage(
    "replies that say nothing",
    "https://github.com/OnesoftQwQ/opencode-go-copilot/issues/24",
    (message, index) => saysNothing(message, index) && "Invalid assistant message: content or tool_calls must be set",
  ),
  pairs("https://github.com/TurixAI/TuriX-CUA/issues/15", {
    orphan: () => "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
    unanswered: () =>
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
  }),
  idsDiffer(reference, "message", (id, index) => `Duplicate value for 'tool_call_id' of ${id} in message[${index}]`),
  ...toolNamesMatch(reference, /^[a-zA-Z0-9_-]{1,64}$/, (_, at) => mismatch(at).message),
];

export const deepseek: Family = {
  rules: (request) => (thinks(request) ? [...rules, firstMessage, reasoning] : rules),
  bodyOf: (refusal) => openaiError({ code: "invalid_request_error", ...refusal }),
};
