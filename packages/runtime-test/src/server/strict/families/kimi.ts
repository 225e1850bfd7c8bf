import { isFields } from "../rules/json.ts";
import { callsOf, eachMessage, type Family, type Rule } from "../rules/rule.ts";
import { vllm } from "./local.ts";
import { openaiError } from "./openai-chat.ts";

const reasoning: Rule = eachMessage(
  "reasoning beside calls",
  "https://github.com/continuedev/continue/issues/11600",
  (message, index) =>
    callsOf(message, index).length > 0 && typeof message["reasoning_content"] !== "string"
      ? {
          message: `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
        }
      : null,
);

/** Moonshot's API, whose models think unless a request forbids it. */
export const kimi: Family = {
  rules: (request) => {
    const { thinking } = request;
    const thinks = !isFields(thinking) || thinking["type"] !== "disabled";
    return [...vllm.rules(request), ...(thinks ? [reasoning] : [])];
  },
  bodyOf: openaiError,
};
