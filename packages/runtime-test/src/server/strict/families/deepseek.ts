import { type Fields, isFields, textOf } from "../rules/json.ts";
import { callsOf, eachMessage, eachPart, type Family, isEmptyContent, type Refusal, type Rule } from "../rules/rule.ts";
import { everywhere, idsDiffer, pairs, toolNamesMatch } from "../rules/common-rules.ts";
import { openaiError } from "./openai-chat.ts";

const reference = "https://api-docs.deepseek.com/api/create-chat-completion";

const unreadable = (what: string): Refusal => ({
  message: `Failed to deserialize the JSON body into the target type: ${what}`,
  code: "invalid_request_error",
});

const known = ["system", "user", "assistant", "tool"];

const thinks = (request: { readonly [name: string]: unknown }): boolean =>
  /reasoner|deepseek-v4/.test(textOf(request["model"])) ||
  (isFields(request["thinking"]) && request["thinking"]["type"] === "enabled");

const reasoning: Rule = eachMessage(
  "reasoning in turns with calls",
  "https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
  (message, index, all) =>
    message["role"] === "assistant" && isOfToolTurn(all, index) && typeof message["reasoning_content"] !== "string"
      ? {
          message: "The `reasoning_content` in the thinking mode must be passed back to the API.",
          code: "invalid_request_error",
        }
      : null,
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
    role === "assistant" && index === all.findIndex((each) => each["role"] !== "system")
      ? {
          message:
            "The first message (except the system message) of deepseek-reasoner must be a user message, but an assistant message detected.",
          code: "invalid_request_error",
        }
      : null,
);

const rules: readonly Rule[] = [
  ...everywhere,
  eachMessage("roles", reference, ({ role }, index) =>
    known.includes(textOf(role))
      ? null
      : unreadable(
          `messages[${index}].role: unknown variant \`${textOf(role)}\`, expected one of ${known.map((each) => `\`${each}\``).join(", ")}`,
        ),
  ),
  // https://github.com/BerriAI/litellm/issues/6642
  eachMessage("lists of parts", "https://github.com/tailcallhq/forgecode/issues/2008", ({ role, content }, index) =>
    role !== "user" && Array.isArray(content)
      ? unreadable(`messages[${index}]: invalid type: sequence, expected a string`)
      : null,
  ),
  eachPart("images", "https://github.com/browser-use/web-ui/issues/99", ({ type }, _, __, index) =>
    type === "text"
      ? null
      : unreadable(`messages[${index}]: data did not match any variant of untagged enum ChatCompletionRequestContent`),
  ),
  eachMessage(
    "replies that say nothing",
    "https://github.com/OnesoftQwQ/opencode-go-copilot/issues/24",
    (message, index) =>
      message["role"] === "assistant" && isEmptyContent(message["content"]) && callsOf(message, index).length === 0
        ? {
            message: "Invalid assistant message: content or tool_calls must be set",
            code: "invalid_request_error",
          }
        : null,
  ),
  pairs("https://github.com/TurixAI/TuriX-CUA/issues/15", {
    orphan: () => ({
      message: "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
      code: "invalid_request_error",
    }),
    unanswered: () => ({
      message:
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
      code: "invalid_request_error",
    }),
  }),
  idsDiffer(reference, "message", (id, index) => ({
    message: `Duplicate value for 'tool_call_id' of ${id} in message[${index}]`,
    code: "invalid_request_error",
  })),
  ...toolNamesMatch(reference, /^[a-zA-Z0-9_-]{1,64}$/, (_, at) => ({
    message: `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    code: "invalid_request_error",
  })),
];

export const deepseek: Family = {
  rules: (request) => (thinks(request) ? [...rules, firstMessage, reasoning] : rules),
  bodyOf: openaiError,
};
