import { textOf } from "../rules/json.ts";
import { callsOf, eachMessage, type Family, type Refusal, type Rule } from "../rules/rule.ts";
import { everywhere, onlyMembers } from "../rules/common-rules.ts";
import { openaiError, openaiPairs, openaiToolNames } from "./openai-chat.ts";

const unsatisfied = (role: string, index: number, what: string): Refusal => ({
  message: `'messages.${index}' : for 'role:${role}' the following must be satisfied[(${what})]`,
});

const rules: readonly Rule[] = [
  ...everywhere,
  onlyMembers(
    "https://github.com/janhq/jan/issues/8136, https://github.com/musistudio/llms/pull/64",
    {
      system: ["content", "name"],
      developer: ["content", "name"],
      user: ["content", "name"],
      assistant: ["content", "name", "tool_calls", "function_call", "reasoning"],
      tool: ["content", "tool_call_id", "name"],
      function: ["content", "name"],
    },
    {
      member: (name, role, index) =>
        unsatisfied(role, index, `'messages.${index}' : property '${name}' is unsupported`),
      role: (_, index) => ({ message: `'messages.${index}' : discriminator property 'role' has invalid value` }),
    },
  ),
  eachMessage("reasoning of other models", "https://github.com/vercel/ai/pull/8057", ({ reasoning }, index) =>
    reasoning === undefined || reasoning === null
      ? null
      : { message: `messages[${index}].reasoning: reasoning is not supported with this model` },
  ),
  eachMessage(
    "content of messages",
    // https://github.com/livekit/agents/issues/1790, https://github.com/OpenHands/OpenHands/pull/9759
    "https://github.com/OpenHands/OpenHands/issues/4643",
    (message, index) => {
      const { role, content } = message;
      const isOptional = role === "assistant" && callsOf(message, index).length > 0;
      const isTaken = typeof content === "string" || (role === "user" && Array.isArray(content));
      return isTaken || (isOptional && (content === undefined || content === null))
        ? null
        : unsatisfied(textOf(role), index, `'messages.${index}.content' : value must be a string`);
    },
  ),
  openaiPairs,
  ...openaiToolNames,
];

/** Only models that reason take a reply's `reasoning`. */
const reasons = (model: unknown): boolean => /gpt-oss|qwen|deepseek/.test(textOf(model));

export const groq: Family = {
  rules: ({ model }) => (reasons(model) ? rules.filter(({ name }) => name !== "reasoning of other models") : rules),
  bodyOf: openaiError,
};
