import { type Fields, objectsIn, textOf, shown } from "../rules/json.ts";
import { eachOf, type Family, type Refusal, refusal, rule, type Rule, type Verdict } from "../rules/rule.ts";
import { everywhere, schemasAreObjects, toolNamesMatch } from "../rules/common-rules.ts";
import { mismatch, openaiError, quoted, tooLong, unknownParameter, unsupported } from "./openai-chat.ts";

const reference = "https://platform.openai.com/docs/api-reference/responses/create";

const agents = "https://github.com/openai/openai-agents-python/issues";

const itemsOf = ({ input }: Fields): readonly Fields[] => objectsIn(input);

/** Returns the type of an item; that of a message may be left out. */
export const typeOf = (item: Fields | undefined): string =>
  item === undefined ? "" : textOf(item["type"] ?? (item["role"] === undefined ? "" : "message"));

const eachItem = (
  name: string,
  source: string,
  refuse: (item: Fields, at: string, next: Fields | undefined, all: readonly Fields[]) => Verdict,
): Rule => eachOf(itemsOf, name, source, (item, index, all) => refuse(item, `input[${index}]`, all[index + 1], all));

const idPrefixes: { readonly [type: string]: string } = {
  message: "msg",
  function_call: "fc",
  reasoning: "rs",
  custom_tool_call: "ctc",
};

const partTypes: { readonly [role: string]: readonly string[] } = {
  assistant: ["output_text", "refusal"],
  user: ["input_text", "input_image", "input_file", "input_audio"],
  system: ["input_text"],
  developer: ["input_text"],
};

/** The members of items that are not of built-in tools. */
export const membersOf: Readonly<Record<string, Readonly<Record<"needed" | "others", readonly string[]>> | undefined>> =
  {
    message: { needed: ["role", "content"], others: ["id", "status", "phase"] },
    function_call: { needed: ["call_id", "name", "arguments"], others: ["id", "status", "namespace", "caller"] },
    function_call_output: { needed: ["call_id", "output"], others: ["id", "status", "caller"] },
    custom_tool_call: { needed: ["call_id", "name", "input"], others: ["id", "status", "namespace", "caller"] },
    custom_tool_call_output: { needed: ["call_id", "output"], others: ["id", "status", "caller"] },
    reasoning: { needed: ["summary"], others: ["id", "content", "encrypted_content", "status"] },
    item_reference: { needed: ["id"], others: [] },
  };

const isModels = (item: Fields | undefined): boolean =>
  (typeOf(item) === "message" && item?.["role"] === "assistant") ||
  /^(reasoning|item_reference)$|_call$/.test(typeOf(item));

const problemOfId = (item: Fields, at: string): Verdict => {
  const { id } = item;
  if (id === undefined || id === null || typeOf(item) === "item_reference") return null;
  if (textOf(id).length > 64) return tooLong(`${at}.id`, 64, textOf(id).length);
  const prefix = idPrefixes[typeOf(item)] ?? "";
  const isRead = /^[a-zA-Z0-9_-]+$/.test(textOf(id));
  const expected = isRead
    ? `begins with '${prefix}'`
    : "contains letters, numbers, underscores, or dashes, but this value contained additional characters";
  const message = `Invalid '${at}.id': '${textOf(id)}'. Expected an ID that ${expected}.`;
  return !(isRead && textOf(id).startsWith(prefix)) && refusal(message, `${at}.id`, "invalid_value");
};

/** Rules about items that also servers have which are not strict. */
export const ofItems: Readonly<Record<"members" | "reasoning" | "calls", Rule>> = {
  members: eachItem("members of items", reference, (item, at) => {
    const known = Object.hasOwn(membersOf, typeOf(item)) ? membersOf[typeOf(item)] : undefined;
    // Those of built-in tools go back as they came.
    const all = known && ["type", ...known.needed, ...known.others];
    const other = Object.keys(item).find((name) => all?.includes(name) === false);
    return other !== undefined && unknownParameter(`${at}.${other}`);
  }),
  reasoning: eachItem("reasoning is followed", `${agents}/1660`, (item, _, next) => {
    const words = `Item '${textOf(item["id"])}' of type 'reasoning' was provided without its required following item.`;
    return typeOf(item) === "reasoning" && !isModels(next) && refusal(words, "input");
  }),
  calls: rule("calls and results", reference, (request) => {
    const open = new Set<unknown>();
    const stray = itemsOf(request).find((item) => {
      if (/^(function|custom_tool)_call$/.test(typeOf(item))) open.add(item["call_id"]);
      return /^(function|custom_tool)_call_output$/.test(typeOf(item)) && !open.delete(item["call_id"]);
    });
    const id = textOf(stray?.["call_id"]);
    if (stray !== undefined) return refusal(`No tool call found for function call output with call_id ${id}.`, "input");
    const [left] = open;
    return left !== undefined && refusal(`No tool output found for function call ${shown(left)}.`, "input");
  }),
};

/** Refuses the id of an item that the server does not keep. */
export const notFound = (id: string): Refusal => ({
  message: `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
  param: "input",
  status: 404,
});

const sdk = "https://github.com/OpenRouterTeam/ai-sdk-provider/issues";

const guide = "https://platform.openai.com/docs/guides/reasoning";

const rules: readonly Rule[] = [
  ...everywhere.slice(0, 1),
  rule("some input", reference, ({ input }) => {
    const isThere = (typeof input === "string" || Array.isArray(input)) && input.length > 0;
    return !isThere && refusal("Missing required parameter: 'input'.", "input", "missing_required_parameter");
  }),
  ofItems.members,
  eachItem("types of parts", reference, (item, at) => {
    const known = typeOf(item) === "message" ? partTypes[textOf(item["role"])] : undefined;
    const place = objectsIn(item["content"]).findIndex(({ type }) => known?.includes(textOf(type)) === false);
    const { type } = objectsIn(item["content"])[place] ?? {};
    return place >= 0 && unsupported(type, quoted(known ?? []), `${at}.content[${place}]`);
  }),
  ofItems.reasoning,
  rule("reasoning is encrypted", `${guide}#encrypted-reasoning-items`, (request) => {
    if (request["store"] !== false) return null;
    const isBare = (item: Fields): boolean => typeOf(item) === "reasoning" && textOf(item["encrypted_content"]) === "";
    const bare = itemsOf(request).find(isBare);
    return bare !== undefined && notFound(textOf(bare["id"]));
  }),
  ofItems.calls,
  eachItem("ids of calls", "https://github.com/decolua/9router/issues/393", ({ call_id: id }, at) => {
    if (id === undefined) return null;
    const place = `${at}.call_id`;
    const message = `Invalid '${place}': empty string. Expected a string with minimum length 1, but got an empty string instead.`;
    if (textOf(id) === "") return refusal(message, place, "empty_string");
    return textOf(id).length > 64 && tooLong(place, 64, textOf(id).length);
  }),
  eachItem("ids of items", "https://github.com/earendil-works/pi/issues/1022", problemOfId),
  eachItem("ids of items differ", `${sdk}/254`, ({ id }, _at, _next, all) => {
    if (typeof id !== "string" || all.filter((item) => item["id"] === id).length === 1) return null;
    return refusal(
      `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
      "input",
    );
  }),
  eachItem("names in the history", reference, (item, at) => {
    const isRead = /^[a-zA-Z0-9_-]{1,128}$/.test(textOf(item["name"]));
    return typeOf(item) === "function_call" && !isRead && mismatch(`${at}.name`);
  }),
  ...toolNamesMatch(`${reference}#responses-create-tools`, /^[a-zA-Z0-9_-]{1,64}$/, (_, at) => mismatch(at)),
  schemasAreObjects("https://github.com/containers/kubernetes-mcp-server/issues/717"),
];

export const openaiResponses: Family = { rules: () => rules, bodyOf: openaiError };
