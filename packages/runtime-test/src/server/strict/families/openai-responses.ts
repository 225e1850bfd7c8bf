import { type Fields, firstOf, objectsIn, textOf, shown } from "../rules/json.ts";
import type { Family, Refusal, Rule } from "../rules/rule.ts";
import { everywhere, schemasAreObjects, toolNamesMatch } from "../rules/common-rules.ts";
import { openaiError } from "./openai-chat.ts";

const reference = "https://platform.openai.com/docs/api-reference/responses/create";

const itemsOf = ({ input }: Fields): readonly Fields[] => objectsIn(input);

/** Returns the type of an item; that of a message may be left out. */
export const typeOf = (item: Fields | undefined): string =>
  item === undefined ? "" : textOf(item["type"] ?? (item["role"] === undefined ? "" : "message"));

const eachItem = (
  name: string,
  source: string,
  refuse: (item: Fields, at: string, next: Fields | undefined, all: readonly Fields[]) => Refusal | null,
): Rule => ({
  name,
  source,
  refuse: (request) => {
    const all = itemsOf(request);
    return firstOf(all, (item, index) => refuse(item, `input[${index}]`, all[index + 1], all));
  },
});

const tooLong = (at: string, length: number): Refusal => ({
  message: `Invalid '${at}': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`,
  param: at,
  code: "string_above_max_length",
});

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

interface Members {
  readonly needed: readonly string[];
  readonly others: readonly string[];
}

/** The members of items that are not of built-in tools. */
export const membersOf: { readonly [type: string]: Members | undefined } = {
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

const problemOfId = (item: Fields, at: string): Refusal | null => {
  const { id } = item;
  if (id === undefined || id === null || typeOf(item) === "item_reference") return null;
  if (textOf(id).length > 64) return tooLong(`${at}.id`, textOf(id).length);
  const prefix = idPrefixes[typeOf(item)];
  const isRead = /^[a-zA-Z0-9_-]+$/.test(textOf(id));
  return isRead && (prefix === undefined || textOf(id).startsWith(prefix))
    ? null
    : {
        message: `Invalid '${at}.id': '${textOf(id)}'. Expected an ID that ${isRead ? `begins with '${prefix ?? ""}'` : "contains letters, numbers, underscores, or dashes, but this value contained additional characters"}.`,
        param: `${at}.id`,
        code: "invalid_value",
      };
};

/** Rules about items that also servers have which are not strict. */
export const ofItems: Readonly<Record<"members" | "reasoning" | "calls", Rule>> = {
  members: eachItem("members of items", reference, (item, at) => {
    const known = Object.hasOwn(membersOf, typeOf(item)) ? membersOf[typeOf(item)] : undefined;
    // Those of built-in tools go back as they came.
    const all = known && ["type", ...known.needed, ...known.others];
    const other = Object.keys(item).find((name) => all?.includes(name) === false);
    return other === undefined
      ? null
      : { message: `Unknown parameter: '${at}.${other}'.`, param: `${at}.${other}`, code: "unknown_parameter" };
  }),
  reasoning: eachItem(
    "reasoning is followed",
    "https://github.com/openai/openai-agents-python/issues/1660",
    (item, _, next) =>
      typeOf(item) === "reasoning" && !isModels(next)
        ? {
            message: `Item '${textOf(item["id"])}' of type 'reasoning' was provided without its required following item.`,
            param: "input",
          }
        : null,
  ),
  calls: {
    name: "calls and results",
    source: reference,
    refuse: (request) => {
      const open = new Set<unknown>();
      const stray = itemsOf(request).find((item) => {
        if (/^(function|custom_tool)_call$/.test(typeOf(item))) open.add(item["call_id"]);
        return /^(function|custom_tool)_call_output$/.test(typeOf(item)) && !open.delete(item["call_id"]);
      });
      if (stray !== undefined)
        return {
          message: `No tool call found for function call output with call_id ${textOf(stray["call_id"])}.`,
          param: "input",
        };
      const [left] = open;
      return left === undefined
        ? null
        : { message: `No tool output found for function call ${shown(left)}.`, param: "input" };
    },
  },
};

const rules: readonly Rule[] = [
  ...everywhere.slice(0, 1),
  {
    name: "some input",
    source: reference,
    refuse: ({ input }) =>
      (typeof input === "string" && input !== "") || (Array.isArray(input) && input.length > 0)
        ? null
        : { message: "Missing required parameter: 'input'.", param: "input", code: "missing_required_parameter" },
  },
  ofItems.members,
  eachItem("types of parts", reference, (item, at) => {
    const known = typeOf(item) === "message" ? partTypes[textOf(item["role"])] : undefined;
    const place = objectsIn(item["content"]).findIndex(({ type }) => known?.includes(textOf(type)) === false);
    return place < 0
      ? null
      : {
          message: `Invalid value: '${textOf(objectsIn(item["content"])[place]?.["type"])}'. Supported values are: ${(known ?? []).map((each) => `'${each}'`).join(", ")}.`,
          param: `${at}.content[${place}]`,
          code: "invalid_value",
        };
  }),
  ofItems.reasoning,
  {
    name: "reasoning is encrypted",
    source: "https://platform.openai.com/docs/guides/reasoning#encrypted-reasoning-items",
    refuse: (request) => {
      if (request["store"] !== false) return null;
      const bare = itemsOf(request).find(
        (item) => typeOf(item) === "reasoning" && textOf(item["encrypted_content"]) === "",
      );
      return bare === undefined
        ? null
        : {
            status: 404,
            message: `Item with id '${textOf(bare["id"])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
            param: "input",
          };
    },
  },
  ofItems.calls,
  eachItem("ids of calls", "https://github.com/decolua/9router/issues/393", ({ call_id: id }, at) => {
    if (id === undefined) return null;
    if (textOf(id) === "")
      return {
        message: `Invalid '${at}.call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
        param: `${at}.call_id`,
        code: "empty_string",
      };
    return textOf(id).length > 64 ? tooLong(`${at}.call_id`, textOf(id).length) : null;
  }),
  eachItem("ids of items", "https://github.com/earendil-works/pi/issues/1022", problemOfId),
  eachItem(
    "ids of items differ",
    "https://github.com/OpenRouterTeam/ai-sdk-provider/issues/254",
    ({ id }, _at, _next, all) =>
      typeof id !== "string" || all.filter((item) => item["id"] === id).length === 1
        ? null
        : {
            message: `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
            param: "input",
          },
  ),
  eachItem("names in the history", reference, (item, at) =>
    typeOf(item) !== "function_call" || /^[a-zA-Z0-9_-]{1,128}$/.test(textOf(item["name"]))
      ? null
      : {
          message: `Invalid '${at}.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
          param: `${at}.name`,
          code: "invalid_value",
        },
  ),
  ...toolNamesMatch(`${reference}#responses-create-tools`, /^[a-zA-Z0-9_-]{1,64}$/, (_, at) => ({
    message: `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
    param: at,
    code: "invalid_value",
  })),
  schemasAreObjects("https://github.com/containers/kubernetes-mcp-server/issues/717"),
];

export const openaiResponses: Family = { rules: () => rules, bodyOf: openaiError };
