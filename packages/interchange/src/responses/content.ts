import type {
  ContentPart,
  ImagePart,
  JsonObject,
  OpaquePart,
  Part,
  RefusalPart,
  ToolCallDraft,
  ToolCallPart,
  ToolResultPart,
} from "@colloquy/machine";
import { type CallPlace, fieldsFor, foreignPart, foreignValue, providerOf } from "../exchange/foreign.ts";
import type { Round } from "../exchange/export.ts";
import { defined, isEmpty, isJsonObject, presentOf } from "../exchange/json.ts";
import { dataText, imageIn, onlyText, type ReplyPart } from "../exchange/reading.ts";

/** An input or output item of the Responses API, loosely typed. */
export interface ResponseItem extends JsonObject {
  readonly type: string;
}

/** The content of a message or a tool's output: a text, or parts. */
export type ItemContent = string | readonly JsonObject[];

/** The types of text parts, of users and models. */
export const textTypes: readonly unknown[] = ["input_text", "output_text", "text"];

/** Returns a value that is an item with its type; undefined for others. */
export const itemIn = (value: unknown): ResponseItem | undefined =>
  isJsonObject(value) && typeof value["type"] === "string" ? { ...value, type: value["type"] } : undefined;

/**
 * Converts parts to input content: a plain text as a string, otherwise a list of parts. Parts without a form there are
 * left out.
 */
export const inputContent = (parts: readonly Part[]): ItemContent => plainOr(parts.flatMap(inputPart));

/** Returns a single text without other fields as a string; an empty text if there are no parts. */
export const plainOr = (parts: readonly JsonObject[]): ItemContent =>
  parts.length === 0 ? "" : (onlyText(parts.map(presentOf), textTypes) ?? parts);

/** Converts a part of a model's reply; none for a part with its own item, or without a form there. */
export const outputPart = (part: Part): readonly JsonObject[] => {
  if (part.type === "text") return [outputText(part.text, fieldsOf(part))];
  if (part.type === "data") return [outputText(dataText(part.field, part.value), {})];
  return part.type === "refusal" ? [{ type: "refusal", refusal: part.text, ...fieldsOf(part) }] : [];
};

const outputText = (text: string, fields: JsonObject): JsonObject => ({
  type: "output_text",
  text,
  annotations: [],
  ...fields,
});

/** Converts the content of a message or an output to a thread's. */
export const contentOfItem = (content: ItemContent): string | readonly ContentPart[] =>
  typeof content === "string" ? content : content.map(contentPart);

/** Converts the content of a model's message, which may also hold refusals. */
export const replyContentOfItem = (content: ItemContent): readonly (ContentPart | RefusalPart)[] => {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.map((part) => refusalOf(part) ?? contentPart(part));
};

const inputPart = (part: Part): readonly JsonObject[] => {
  switch (part.type) {
    case "text":
      return [{ type: "input_text", text: part.text, ...fieldsFor(part.provider, "responses") }];
    case "data":
      return [{ type: "input_text", text: dataText(part.field, part.value) }];
    case "image":
      return [{ type: "input_image", image_url: part.url, ...defined({ detail: part.detail }) }];
    case "opaque":
      return opaqueInput(part);
    default:
      return [];
  }
};

/** Files and sound are kept in the form of chat completions, which both APIs accept. */
const opaqueInput = (part: OpaquePart): readonly JsonObject[] => {
  const own = foreignValue(part, "responses");
  if (own !== undefined) return [own];
  const { type, file, ...rest } = part.value;
  if (type === "file" && isJsonObject(file) && isEmpty(rest)) return [{ type: "input_file", ...file }];
  return type === "input_audio" ? [part.value] : [];
};

const contentPart = (part: JsonObject): ContentPart => {
  const { type, text, ...rest } = part;
  if (textTypes.includes(type) && typeof text === "string")
    return { type: "text", text, ...providerOf({ responses: presentOf(rest) }) };
  return (
    imageOf(part) ??
    fileOf(part) ??
    (type === "input_audio" ? { type: "opaque", value: part } : foreignPart("responses", part))
  );
};

/** Reads an image with only a URL and a detail. */
const imageOf = (part: JsonObject): ImagePart | undefined => {
  const { type, image_url: url, detail, ...rest } = presentOf(part);
  return type === "input_image" && isEmpty(rest) ? imageIn({ url, detail }) : undefined;
};

const fileOf = (part: JsonObject): OpaquePart | undefined => {
  const { type, ...file } = presentOf(part);
  const known = Object.keys(file).every((key) => ["filename", "file_data", "file_id"].includes(key));
  return type === "input_file" && known ? { type: "opaque", value: { type: "file", file } } : undefined;
};

const refusalOf = (part: JsonObject): RefusalPart | undefined => {
  const { type, refusal, ...rest } = part;
  if (type !== "refusal" || typeof refusal !== "string") return undefined;
  return { type: "refusal", text: refusal, ...providerOf({ responses: presentOf(rest) }) };
};

/** Returns the item of a call: a function call, a custom tool call, or the item as which it came. */
export const callItem = (call: ToolCallPart, { ids }: Round): ResponseItem => {
  const { item, ...fields } = fieldsOf(call);
  const own = itemIn(item);
  if (own !== undefined) return own;
  const named = { call_id: ids.get(call.callId) ?? "", name: call.name };
  return isCustom(call)
    ? { type: "custom_tool_call", ...named, input: call.arguments, ...fields }
    : { type: "function_call", ...named, arguments: call.arguments, ...fields };
};

/** Returns the item of a result, of the kind that matches its call. */
export const resultItem = (result: ToolResultPart, { calls, ids }: Round): ResponseItem => {
  const own = itemIn(foreignValue(result.content[0], "responses"));
  if (own?.type.endsWith("_output") === true) return own;
  const call = calls.find(({ callId }) => callId === result.callId);
  return {
    type: isCustom(call) ? "custom_tool_call_output" : "function_call_output",
    call_id: ids.get(result.callId) ?? result.providerCallId ?? "",
    output: inputContent(result.content),
  };
};

const isCustom = (call: ToolCallPart | undefined): boolean => call?.provider?.["type"] === "custom";

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
export const callOfOtherItem = (item: ResponseItem, id: string): ToolCallDraft => ({
  id,
  name: typeof item["name"] === "string" ? item["name"] : item.type,
  arguments: JSON.stringify(item),
  provider: { responses: { item } },
});

const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");

// A reply has its content first and its calls last. Two members of `provider.responses` keep the original order of its
// items: `place`, of a call, and `message`, of the first part of a second message.

/** The place of a call among the items. */
export const placeOfItem: CallPlace = {
  in: (provider) => fieldsFor(provider, "responses")["place"],
  added: (provider, place) => ({ ...provider, responses: { ...fieldsFor(provider, "responses"), place } }),
};

/** Stores the fields of a further message item in its first part; returns null if that part cannot hold them. */
export const beginningMessage = (
  [first, ...others]: readonly ReplyPart[],
  message: JsonObject,
): readonly ReplyPart[] | null => {
  if (first?.type !== "text" && first?.type !== "refusal") return null;
  const responses = { ...fieldsFor(first.provider, "responses"), message };
  return [{ ...first, provider: { ...first.provider, responses } }, ...others];
};

/** Returns the fields of the message item that begins with a part; undefined if the part continues the one before. */
export const messageBegunBy = (part: Part): JsonObject | undefined => {
  if (part.type !== "text" && part.type !== "refusal") return undefined;
  const { message } = fieldsFor(part.provider, "responses");
  return isJsonObject(message) ? message : undefined;
};

/** Returns the original fields of an item or a part, without those about the order. */
const fieldsOf = (part: { readonly provider?: JsonObject }): JsonObject => {
  const { place: _place, message: _message, ...fields } = fieldsFor(part.provider, "responses");
  return fields;
};
