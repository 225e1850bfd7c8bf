import type { Json, JsonObject } from "@colloquy/machine";
import { isJsonObject, placeOfItem } from "../items/item.ts";

/** Returns why an item of an input is skipped; null if it is read. */
export const skippedItem = (item: JsonObject, index: number): string | null => {
  const { type = "role" in item ? "message" : "item_reference", role, id } = item;
  if (type === "item_reference" && typeof id === "string" && id.startsWith("rs_") && placeOfItem(id) === null)
    return `input[${index}]: skipped; the reasoning ${JSON.stringify(id)} is not known here`;
  if (type === "message" && typeof role === "string" && !roles.has(role))
    return `input[${index}]: skipped; messages of the role ${JSON.stringify(role)} are not known here`;
  return typeof type === "string" && type !== "" && !isKnownItem(type)
    ? `input[${index}]: skipped; items of the type ${JSON.stringify(type)} are not known here`
    : null;
};

/** Lists the items that are skipped, or that only some models receive. */
export const skippedInput = (input: unknown): readonly string[] =>
  Array.isArray(input) ? input.flatMap((item: Json, index) => (isJsonObject(item) ? skippedIn(item, index) : [])) : [];

const skippedIn = (item: JsonObject, index: number): readonly string[] => {
  const skipped = skippedItem(item, index);
  if (skipped !== null) return [skipped];
  const { type, content } = item;
  if (typeof type === "string" && !translated.has(type)) return [`input[${index}]: ${onlyResponses(`a ${type}`)}`];
  const parts: readonly Json[] = Array.isArray(content) && type !== "reasoning" ? content : [];
  return parts.flatMap((part: Json, place) => {
    const kind = isJsonObject(part) ? part["type"] : null;
    return typeof kind !== "string" || partTypes.has(kind)
      ? []
      : [`input[${index}].content[${place}]: ${onlyResponses(`a part of the type ${JSON.stringify(kind)}`)}`];
  });
};

/** The items of an input. A text among them is a user's, and arguments and outputs that are not texts are the JSON of one. */
export const readInputItems = (
  input: string | JsonObject | readonly (string | JsonObject)[],
): string | readonly JsonObject[] => (typeof input === "string" ? input : [input].flat().map(itemOf));

const itemOf = (item: string | JsonObject): JsonObject => {
  if (typeof item === "string") return { role: "user", content: item };
  const { type = "message", role, content, arguments: written, output } = item;
  if (type === "message" && role !== undefined && content != null) return { ...item, content: partsOf(content) };
  if (type === "function_call" && typeof written !== "string")
    return { ...item, arguments: JSON.stringify(written ?? {}) };
  if (type !== "function_call_output" && type !== "custom_tool_call_output") return item;
  if (Array.isArray(output)) return { ...item, output: partsOf(output) };
  return output == null || typeof output === "string" ? item : { ...item, output: JSON.stringify(output) };
};

/** Returns the content with other values than parts as text parts, and without null. */
const partsOf = (content: Json): Json => {
  // An empty text has no part.
  if (typeof content === "string") return content;
  const parts: readonly Json[] = [content].flat();
  return parts.flatMap((part): readonly Json[] => {
    if (!isJsonObject(part))
      return part === null
        ? []
        : [{ type: "input_text", text: typeof part === "string" ? part : JSON.stringify(part) }];
    if ("text" in part && part["text"] === null) return [];
    return [part["type"] === undefined && typeof part["text"] === "string" ? { type: "input_text", ...part } : part];
  });
};

/** The metadata that a response can have: 16 members, with keys of 64 and texts of 512 characters. */
export const readMetadata = (
  given: JsonObject,
): { readonly metadata: Readonly<Record<string, string>>; readonly skipped: readonly string[] } => {
  const metadata: { [key: string]: string } = {};
  const skipped: string[] = [];
  for (const [key, value] of Object.entries(given)) {
    if (value == null) continue;
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    const place = `metadata.${key.slice(0, 64)}`;
    if (key.length > 64) skipped.push(`${place}: skipped; a key has at most 64 characters`);
    else if (Object.keys(metadata).length === 16) skipped.push(`${place}: skipped; metadata has at most 16 members`);
    else metadata[key] = text.slice(0, 512).toWellFormed();
    if (text.length > 512) skipped.push(`${place}: cut; a text has at most 512 characters`);
  }
  return { metadata, skipped };
};

const onlyResponses = (what: string): string => `${what} is kept, but only a model of the Responses API is sent it`;

const roles: ReadonlySet<string> = new Set(["system", "developer", "user", "assistant"]);

/** Items that every model receives, as messages, calls and results. */
const translated: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "apply_patch_call",
  "computer_call",
  "reasoning",
  "item_reference",
  "mcp_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
]);

/** Checks whether an item is kept unchanged. */
const isKnownItem = (type: string): boolean =>
  translated.has(type) || kept.has(type) || /_(?:call|output)$/u.test(type);

const kept: ReadonlySet<string> = new Set([
  "additional_tools",
  "compaction",
  "compaction_summary",
  "compaction_trigger",
  "configuration_update",
  "program",
]);

const partTypes: ReadonlySet<string> = new Set([
  "input_text",
  "output_text",
  "text",
  "refusal",
  "input_image",
  "input_file",
  "input_audio",
]);

/** Splits the tools of a request into functions, which the caller runs, and skipped tools. */
export const readTools = (
  given: readonly JsonObject[],
): {
  readonly kept: readonly JsonObject[];
  readonly left: readonly JsonObject[];
  readonly skipped: readonly string[];
} => {
  const kept: JsonObject[] = [];
  const left: JsonObject[] = [];
  const skipped: string[] = [];
  for (const [index, each] of given.entries()) {
    const tool = toolOf(each);
    if (tool["type"] === "function" && kept.some(({ name }) => name === tool["name"]))
      skipped.push(`tools[${index}]: skipped; a tool before it has the name ${JSON.stringify(tool["name"])}`);
    else if (tool["type"] === "function") {
      kept.push(Object.fromEntries(Object.entries(tool).filter(([member]) => toolMembers.has(member))));
      for (const [member, value] of Object.entries(tool))
        if (!toolMembers.has(member) && value !== null && value !== false)
          skipped.push(`tools[${index}].${member}: skipped; a function tool has no such member here`);
    } else {
      left.push(tool);
      const kind = JSON.stringify(tool["type"] ?? null);
      skipped.push(
        `tools[${index}]: skipped; tools of the type ${kind} are not offered, only those of the type function`,
      );
    }
  }
  return { kept, left, skipped };
};

/** A function as chat completions declare it, or without its type, is one all the same. */
const toolOf = (tool: JsonObject): JsonObject => {
  const { type = "name" in tool ? "function" : undefined, function: declared, ...others } = tool;
  return { type, ...(isJsonObject(declared) ? declared : {}), ...others };
};

const toolMembers: ReadonlySet<string> = new Set(["type", "name", "description", "parameters", "strict"]);

export type ToolChoice = "none" | "auto" | "required" | JsonObject | null | undefined;

/** The choice as the Responses API has it: others write it as an object of a type alone, as `any`, or as chat completions do. */
export const plainChoice = (choice: JsonObject | string): ToolChoice => {
  const { type, function: called, ...others } = isJsonObject(choice) ? choice : { type: choice };
  if (isJsonObject(called)) return { type, ...called, ...others };
  if (type === "any" || type === "required") return "required";
  if (type === "auto" || type === "none") return type;
  return isJsonObject(choice) ? choice : null;
};

/** Returns the tool choice without the skipped tools; or a problem if that would change the request's meaning. */
export const readToolChoice = (
  choice: ToolChoice,
  tools: Pick<ReturnType<typeof readTools>, "kept" | "left">,
): { readonly choice: ToolChoice; readonly skipped: readonly string[] } | { readonly problem: string } => {
  const { kept, left } = tools;
  const none = left.length > 0 && kept.length === 0;
  if (choice === "required" && none)
    return { problem: "a call is required, and all tools of the request were skipped" };
  if (!isJsonObject(choice)) return { choice, skipped: [] };
  if (choice["type"] !== "allowed_tools" || !Array.isArray(choice["tools"]))
    return isOneOf(choice, tools)
      ? { problem: `it forces a tool that was skipped: ${nameOf(choice)}` }
      : { choice, skipped: [] };
  const allowed: readonly Json[] = choice["tools"];
  const rest = allowed.filter((tool: Json) => !isJsonObject(tool) || !isOneOf(tool, tools));
  if (rest.length === allowed.length) return { choice, skipped: [] };
  if (rest.length === 0 && choice["mode"] === "required")
    return { problem: "a call is required, and all tools that it allows were skipped" };
  const skipped = ["tool_choice: the tools that were skipped are allowed no longer"];
  // If no allowed tool is left, the model may call none.
  return { choice: rest.length === 0 ? "none" : { ...choice, tools: rest }, skipped };
};

/** Checks whether a choice names a skipped tool and no kept one. */
const isOneOf = (
  { type, name }: JsonObject,
  { kept, left }: Pick<ReturnType<typeof readTools>, "kept" | "left">,
): boolean =>
  type === "function"
    ? left.some((tool) => namesIn(tool).includes(name)) && !kept.some((tool) => tool["name"] === name)
    : left.some((tool) => tool["type"] === type && (name === undefined || namesIn(tool).includes(name)));

/** Returns the name of a tool, and the names of the tools in a `namespace`. */
const namesIn = ({ name, tools, server_label: label }: JsonObject): readonly (Json | undefined)[] => [
  name ?? label,
  ...(Array.isArray(tools) ? tools.flatMap((tool: Json) => (isJsonObject(tool) ? tool["name"] : [])) : []),
];

const nameOf = ({ type, name }: JsonObject): string => JSON.stringify(name ?? type);
