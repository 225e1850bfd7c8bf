import { isFields, textOf, shown } from "../rules/json.ts";
import {
  callsOf,
  eachMessage,
  type Family,
  messagesOf,
  type Refusal,
  rule,
  type Rule,
  saysNothing,
} from "../rules/rule.ts";
import {
  argumentsAreObjects,
  everywhere,
  idsDiffer,
  idsMatch,
  onlyMembers,
  toolNamesMatch,
} from "../rules/common-rules.ts";

/** The validator that Mistral publishes, of version 13, as it serves. */
const validator =
  "https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py";

const order = (message: string): Refusal => ({ message, type: "invalid_request_message_order", code: "3230" });

const invalidCall = (message: string): Refusal => ({ message, type: "invalid_function_call", code: "3280" });

const nextRoles: { readonly [role: string]: readonly string[] } = {
  system: ["user", "assistant", "system"],
  user: ["assistant", "system", "user"],
  assistant: ["assistant", "user", "tool"],
  tool: ["assistant", "tool"],
};

const extra = (loc: readonly (string | number)[], type = "extra_forbidden"): Refusal => ({
  status: 422,
  message: JSON.stringify({
    detail: [{ type, loc: ["body", "messages", ...loc], msg: "Extra inputs are not permitted" }],
  }),
});

/** Counts calls and results as the validator does: whatever stands between them. */
const sameNumber: Rule = rule("calls and results", validator, (request) => {
  let expected = new Set<unknown>();
  let observed = new Set<unknown>();
  for (const [index, message] of messagesOf(request).entries()) {
    if (message["role"] === "tool") {
      const id = message["tool_call_id"];
      if (observed.has(id)) return order(`Duplicate tool call id ${shown(id)} in tool results`);
      if (!expected.has(id)) return order(`Unexpected tool call id ${shown(id)} in tool results`);
      observed.add(id);
    } else if (message["role"] === "assistant") {
      if (expected.size !== observed.size) return order("Not the same number of function calls and responses");
      expected = new Set(callsOf(message, index).map(({ id }) => id));
      observed = new Set();
    }
  }
  return expected.size !== observed.size && order("Not the same number of function calls and responses");
});

const rules: readonly Rule[] = [
  ...everywhere,
  onlyMembers(
    "https://github.com/charmbracelet/crush/issues/1590, https://github.com/Gage-Technologies/mistral-go/pull/2",
    {
      system: ["content"],
      user: ["content"],
      assistant: ["content", "tool_calls", "prefix"],
      tool: ["content", "tool_call_id", "name"],
    },
    {
      member: (name, role, index) => extra([index, role, name]),
      role: (_, index) => extra([index, "role"], "union_tag_invalid"),
    },
  ),
  eachMessage("order of roles", validator, ({ role }, index, all) => {
    const before = all[index - 1]?.["role"];
    const isKnown = before === undefined || nextRoles[textOf(before)]?.includes(textOf(role)) === true;
    return !isKnown && order(`Unexpected role '${textOf(role)}' after role '${textOf(before)}'`);
  }),
  eachMessage("last message", validator, ({ role, prefix }, index, all) => {
    const words = "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant";
    return index === all.length - 1 && role === "assistant" && prefix !== true && order(words);
  }),
  eachMessage("replies that say nothing", validator, (message, index) => {
    const words = "Assistant message must have either content or tool_calls, but not none.";
    const refused = { message: words, type: "invalid_request_assistant_message", code: "3240" };
    return saysNothing(message, index) && refused;
  }),
  sameNumber,
  idsDiffer(validator, "message", (id) => order(`Duplicate tool call id ${id} in assistant message`)),
  idsMatch(validator, /^[a-zA-Z0-9]{9}$/, (id) =>
    invalidCall(`Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`),
  ),
  ...toolNamesMatch(validator, /^[a-zA-Z0-9_-]{1,64}$/, (name) =>
    invalidCall(
      `Function name was ${name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`,
    ),
  ),
  argumentsAreObjects("https://github.com/mistralai/client-python (FunctionCall.arguments)", (_, written) =>
    invalidCall(`Invalid function call arguments: ${written}`),
  ),
];

export const mistral: Family = {
  rules: () => rules,
  bodyOf: ({ message, type = "invalid_request_error", code }) => {
    const detail = message.startsWith("{") ? (JSON.parse(message) as unknown) : message;
    return { object: "error", message: isFields(detail) ? detail : message, type, param: null, code: code ?? null };
  },
};
