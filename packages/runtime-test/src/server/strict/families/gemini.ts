import { type Fields, isFields, objectsIn, textOf } from "../rules/json.ts";
import {
  callsOf,
  eachMessage,
  type Family,
  isEmptyContent,
  isSystem,
  messagesOf,
  rule,
  type Rule,
} from "../rules/rule.ts";
import { argumentsAreObjects, eachSchema, everywhere, pairs, toolNamesMatch } from "../rules/common-rules.ts";

const unequal = (): string =>
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";

/** The signature of the thought that led to a call; those that a model wrote elsewhere have a stand-in. */
const isSigned = (call: Fields): boolean => {
  const extra = call["extra_content"];
  const google = isFields(extra) ? extra["google"] : undefined;
  return isFields(google) && textOf(google["thought_signature"]) !== "";
};

/** Routers have the signature among the details: https://openrouter.ai/docs/use-cases/reasoning-tokens */
const hasDetails = (message: Fields): boolean =>
  objectsIn(message["reasoning_details"]).some(
    ({ type, data }) => type === "reasoning.encrypted" && textOf(data) !== "",
  );

const missingSignature =
  "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance.";

const rules: readonly Rule[] = [
  ...everywhere,
  eachMessage(
    "calls follow a question or a result",
    "https://github.com/google-gemini/gemini-cli/issues/11814",
    (message, index, all) => {
      const before = all.slice(0, index).findLast((each) => !isSystem(each));
      return (
        callsOf(message, index).length > 0 &&
        !["user", "tool"].includes(textOf(before?.["role"])) &&
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
      );
    },
  ),
  pairs("https://github.com/microsoft/vscode/issues/299295", { orphan: unequal, unanswered: unequal }),
  eachMessage("empty content", "https://github.com/router-for-me/CLIProxyAPI/issues/1292", (message, index) => {
    const { role, content } = message;
    const empty = objectsIn(content).some(({ type, text }) => type === "text" && textOf(text) === "");
    const isNothing = role !== "tool" && callsOf(message, index).length === 0 && isEmptyContent(content);
    return (
      (empty || isNothing) && `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.\n`
    );
  }),
  ...toolNamesMatch(
    "https://ai.google.dev/api/caching#FunctionDeclaration",
    /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/,
    () =>
      "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.",
  ),
  argumentsAreObjects(
    "https://ai.google.dev/gemini-api/docs/openai",
    (at, written) => `Invalid JSON payload received. Unknown name "${written}" at '${at}.function.arguments'`,
  ),
  eachSchema(
    "https://github.com/zed-industries/zed/issues/53919",
    ({ type }, at) => Array.isArray(type) && at,
    (at) =>
      `Invalid JSON payload received. Unknown name "type" at 'tools[0].function_declarations[0].parameters${at}': Proto field is not repeating, cannot start list.`,
  ),
  rule("thought signatures", "https://ai.google.dev/gemini-api/docs/thought-signatures", (request) => {
    if (!/gemini-[3-9]/.test(textOf(request["model"]))) return null;
    const all = messagesOf(request);
    const asked = all.findLastIndex(({ role }) => role === "user");
    const isUnsigned = all.slice(asked + 1).some((message) => {
      const [first] = objectsIn(message["tool_calls"]);
      return first !== undefined && !isSigned(first) && !hasDetails(message);
    });
    return isUnsigned && missingSignature;
  }),
];

export const gemini: Family = {
  rules: () => rules,
  bodyOf: ({ message, status = 400 }) => [{ error: { code: status, message, status: "INVALID_ARGUMENT" } }],
};
