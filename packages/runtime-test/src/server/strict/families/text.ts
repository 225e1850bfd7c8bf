import { textOf } from "../rules/json.ts";
import type { Family, Rule } from "../rules/rule.ts";
import { everywhere } from "../rules/common-rules.ts";
import { openaiError } from "./openai-chat.ts";

const reference = "https://platform.openai.com/docs/api-reference/completions/create";

const rules: readonly Rule[] = [
  ...everywhere.slice(0, 1),
  {
    name: "prompt",
    source: reference,
    refuse: ({ prompt }) =>
      textOf(prompt) === ""
        ? { message: "Invalid 'prompt': empty string.", param: "prompt", code: "empty_string" }
        : null,
  },
  {
    name: "stop strings",
    source: `${reference}#completions-create-stop`,
    refuse: ({ stop }) =>
      Array.isArray(stop) && stop.length > 4
        ? {
            message: `Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length ${stop.length} instead.`,
            param: "stop",
            code: "array_above_max_length",
          }
        : null,
  },
];

/** Text completions, whose prompt is one text. */
export const textCompletions: Family = { rules: () => rules, bodyOf: openaiError };
