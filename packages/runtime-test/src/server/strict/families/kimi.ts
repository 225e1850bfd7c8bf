import { isFields } from "../rules/json.ts";
import { callsOf, eachMessage, type Family, type Rule } from "../rules/rule.ts";
import { eachSchema } from "../rules/common-rules.ts";
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

const flavoured: Rule = eachSchema(
  "https://github.com/MoonshotAI/walle/blob/main/docs/mfjs-spec.md, https://github.com/MoonshotAI/kimi-code/issues/2661",
  (schema, at) => {
    const { $ref, type, anyOf, enum: values, allOf } = schema;
    if ($ref !== undefined)
      return schema["description"] === undefined
        ? null
        : `At path '${at}': conflicting keywords found after $ref expansion`;
    if (anyOf === undefined)
      return typeof type === "string" || values !== undefined || allOf !== undefined
        ? null
        : `At path '${at}': type is not defined`;
    return type === undefined
      ? null
      : `At path '${at}': when using anyOf, type should be defined in anyOf items instead of the parent schema`;
  },
  (problem) => ({
    message: `Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <${problem}>`,
  }),
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
