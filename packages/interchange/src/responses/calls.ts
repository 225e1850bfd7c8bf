import type { JsonObject, ToolCallDraft, ToolCallPart, ToolResultPart } from "@colloquy/machine";
import type { CallIds } from "../exchange/call-ids.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { foreignValue, presentOf, providerOf } from "../exchange/foreign.ts";
import { inputContent } from "./content.ts";
import type { ResponseItem } from "./item.ts";
import { fieldsOf } from "./order.ts";

/** Returns the item of a call: a function call, a custom tool call, or the item as which it came. */
export const callItem = (call: ToolCallPart, ids: CallIds): ResponseItem => {
  const { item, ...fields } = fieldsOf(call);
  if (isTyped(item)) return item;
  const named = { call_id: ids.get(call.callId) ?? "", name: call.name };
  return call.provider?.["type"] === "custom"
    ? { type: "custom_tool_call", ...named, input: call.arguments, ...fields }
    : { type: "function_call", ...named, arguments: call.arguments, ...fields };
};

/** Returns the item of a result, of the kind that matches its call. */
export const resultItem = (result: ToolResultPart, call: ToolCallPart | undefined, ids: CallIds): ResponseItem => {
  const [only] = result.content;
  const own = only === undefined ? undefined : foreignValue(only, "responses");
  if (isTyped(own) && own.type.endsWith("_output")) return own;
  const custom = call?.provider?.["type"] === "custom";
  return {
    type: custom ? "custom_tool_call_output" : "function_call_output",
    call_id: ids.get(result.callId) ?? result.providerCallId ?? "",
    output: inputContent(result.content),
  };
};

/** Returns the call in a function's or a custom tool's item. */
export const callOfItem = (item: JsonObject): ToolCallDraft => {
  const { type, call_id: id, name, arguments: given, input, ...rest } = item;
  const custom = type === "custom_tool_call";
  return {
    id: typeof id === "string" ? id : null,
    name: stringOf(name),
    // Absent arguments become the JSON text `null`.
    arguments: stringOf((custom ? input : given) ?? "null"),
    ...providerOf({ ...(custom ? { type: "custom" } : {}), responses: presentOf(rest) }),
  };
};

/** Returns the call in an item of a special kind (a shell, a computer, a patch). The item itself is its arguments. */
export const callOfOtherItem = (item: JsonObject & { readonly type: string }, id: string): ToolCallDraft => ({
  id,
  name: typeof item["name"] === "string" ? item["name"] : item.type,
  arguments: JSON.stringify(item),
  provider: { responses: { item } },
});

const isTyped = (value: unknown): value is ResponseItem => isJsonObject(value) && typeof value["type"] === "string";

const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");
