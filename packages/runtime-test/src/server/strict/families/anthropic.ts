import { firstOf, isFields, objectsIn, textOf, shown } from "../rules/json.ts";
import {
  callsOf,
  eachMessage,
  type Family,
  isEmptyContent,
  isSystem,
  messagesOf,
  rule,
  type Rule,
  type Verdict,
} from "../rules/rule.ts";
import {
  argumentsAreObjects,
  eachTool,
  everywhere,
  idsDiffer,
  idsMatch,
  pairs,
  propertyKeysMatch,
  toolNamesMatch,
  toolsIn,
} from "../rules/common-rules.ts";

const reference = "https://docs.anthropic.com/en/api/messages";
const idPattern = /^[a-zA-Z0-9_-]+$/;
const pairsSource = "https://github.com/aliasrobotics/cai/issues/182";

const blankText = "messages: text content blocks must contain non-whitespace text";

const firstIsUser = (first: unknown): Verdict => first !== "user" && 'messages: first message must use the "user" role';

const orphan = (id: string, index: number): string =>
  `messages.${index}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;

const unanswered = (ids: readonly string[], index: number): string =>
  `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;

const notUnique = (_: string, index: number): string => `messages.${index}.content.1: \`tool_use\` ids must be unique`;

const wrongPattern =
  (member: string, pattern: string) =>
  (_: string, at: string): string =>
    `${at}.${member}: String should match pattern '${pattern}'`;

const schemas: Rule = eachTool("schemas of tools", `${reference}#body-tools`, ({ schema }, index) => {
  const isObject = schema === undefined || (isFields(schema) && schema["type"] === "object");
  return !isObject && `tools.${index}.custom.input_schema.type: Input should be 'object'`;
});

const callsNeedTools: Rule = rule(
  "calls without tools",
  "https://github.com/BerriAI/litellm/pull/31400",
  (request) =>
    toolsIn(request).length === 0 &&
    messagesOf(request).some((message, index) => callsOf(message, index).length > 0) &&
    "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
);

const keys: Rule = propertyKeysMatch(
  "https://github.com/beautyfree/appstore-connect-mcp/issues/2",
  /^[a-zA-Z0-9_.-]{1,64}$/,
  (index) =>
    `tools.${index}.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`,
);

const errorBody: Family["bodyOf"] = ({ message, type = "invalid_request_error" }) => ({
  type: "error",
  error: { type, message },
});

/** Chat completions that a gateway turns into Anthropic's messages. */
const ofChat: readonly Rule[] = [
  ...everywhere,
  eachMessage(
    "first message",
    reference,
    ({ role }, index, all) => index === all.findIndex((each) => !isSystem(each)) && firstIsUser(role),
  ),
  // https://github.com/anthropics/claude-code/issues/23440
  eachMessage("blank text", "https://github.com/home-assistant/core/issues/175637", (message, index) => {
    const { role, content } = message;
    const blank = objectsIn(content).some(({ type, text }) => type === "text" && textOf(text).trim() === "");
    if (blank) return blankText;
    // The gateways leave out an empty text beside calls, and write a result that is a text as it is.
    const isLeftOut = callsOf(message, index).length > 0 && (content ?? "") === "";
    return role !== "tool" && !isLeftOut && isEmptyContent(content, true) && blankText;
  }),
  pairs(pairsSource, { orphan, unanswered }),
  idsDiffer("https://github.com/BerriAI/litellm/issues/23510", "request", notUnique),
  idsMatch(`${reference}#body-messages`, idPattern, wrongPattern("tool_use.id", "^[a-zA-Z0-9_-]+$")),
  ...toolNamesMatch(
    `${reference}#body-tools`,
    /^[a-zA-Z0-9_-]{1,64}$/,
    wrongPattern("tool_use.name", "^[a-zA-Z0-9_-]{1,64}$"),
  ),
  argumentsAreObjects(`${reference}#body-messages`, (at) => `${at}.tool_use.input: Input should be a valid dictionary`),
  schemas,
  keys,
  callsNeedTools,
];

export const anthropic: Family = { rules: () => ofChat, bodyOf: errorBody };

/** The blocks of a message of Anthropic's own API. */
const blocksOf = (message: { readonly content?: unknown }): ReturnType<typeof objectsIn> =>
  typeof message.content === "string" ? [{ type: "text", text: message.content }] : objectsIn(message.content);

const idsIn = (message: { readonly content?: unknown } | undefined, type: string, member: string): readonly unknown[] =>
  message === undefined
    ? []
    : blocksOf(message)
        .filter((block) => block["type"] === type)
        .map((block) => block[member]);

const calls: Rule = eachMessage("calls", `${reference}#body-messages`, (message, index) =>
  firstOf(blocksOf(message), (block, place) => {
    if (block["type"] !== "tool_use") return null;
    const at = `messages.${index}.content.${place}.tool_use`;
    if (!idPattern.test(textOf(block["id"]))) return wrongPattern("id", "^[a-zA-Z0-9_-]+$")("", at);
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(textOf(block["name"])))
      return wrongPattern("name", "^[a-zA-Z0-9_-]{1,128}$")("", at);
    return !isFields(block["input"]) && `${at}.input: Input should be a valid dictionary`;
  }),
);

const paired: Rule = eachMessage("calls and results", pairsSource, (message, index, all) => {
  const asked = idsIn(all[index - 1], "tool_use", "id");
  const stray = idsIn(message, "tool_result", "tool_use_id").find((id) => !asked.includes(id));
  if (stray !== undefined) return orphan(shown(stray), index);
  const given = idsIn(all[index + 1], "tool_result", "tool_use_id");
  const open = idsIn(message, "tool_use", "id").filter((id) => !given.includes(id));
  return open.length > 0 && unanswered(open.map(shown), index);
});

/** Anthropic's own API, which its clients speak. */
const ofMessages: readonly Rule[] = [
  ...everywhere,
  eachMessage("first message", reference, ({ role }, index) => index === 0 && firstIsUser(role)),
  eachMessage("roles", reference, ({ role }, index) => {
    // Newer models take system messages in mid-conversation.
    const isKnown = role === "user" || role === "assistant" || (role === "system" && index > 0);
    return !isKnown && `messages: Unexpected role "${textOf(role)}". Allowed roles are "user" or "assistant"`;
  }),
  eachMessage(
    "content of messages",
    reference,
    (message, index, all) =>
      blocksOf(message).length === 0 &&
      !(index === all.length - 1 && message["role"] === "assistant") &&
      `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
  ),
  eachMessage("blank text", "https://github.com/home-assistant/core/issues/175637", (message) => {
    const nested = blocksOf(message).flatMap((block) =>
      block["type"] === "tool_result" ? objectsIn(block["content"]) : [block],
    );
    return nested.some(({ type, text }) => type === "text" && textOf(text).trim() === "") && blankText;
  }),
  rule("blank text", `${reference}#body-system`, ({ system }) => {
    const isBlank = objectsIn(system).some(({ text }) => textOf(text).trim() === "");
    return isBlank && "system: text content blocks must contain non-whitespace text";
  }),
  calls,
  rule("ids of calls differ", "https://github.com/anthropics/claude-code/issues/28515", (request) => {
    const ids = messagesOf(request).flatMap((message) => idsIn(message, "tool_use", "id"));
    return new Set(ids).size < ids.length && notUnique("", messagesOf(request).length - 1);
  }),
  paired,
  ...toolNamesMatch(
    `${reference}#body-tools`,
    /^[a-zA-Z0-9_-]{1,128}$/,
    wrongPattern("name", "^[a-zA-Z0-9_-]{1,128}$"),
  ).slice(1),
  schemas,
  keys,
];

export const anthropicMessages: Family = { rules: () => ofMessages, bodyOf: errorBody };
