import * as Either from "fp-ts/lib/Either.js";
import type { JsonObject, Message, Part, ToolCallPart } from "@colloquy/machine";
import { toolCallsOf, toolResultOf } from "@colloquy/machine";
import { type CallIds, callIdsOf } from "../exchange/call-ids.ts";
import { inOrder } from "../exchange/call-order.ts";
import { exportLosses, type Group, type Reasons } from "../exchange/export-losses.ts";
import { fieldsFor, foreignValue, isForeign } from "../exchange/foreign.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import type { ImportProblem } from "../exchange/import-problem.ts";
import type { Exported } from "../exchange/loss.ts";
import type { Reading } from "../exchange/piece.ts";
import { callItem, resultItem } from "./calls.ts";
import { inputContent, outputPart, plainOr } from "./content.ts";
import type { ResponseItem } from "./item.ts";
import { messageBegunBy, placeOfItem } from "./order.ts";
import { readResponseItems } from "./reading.ts";

/**
 * Converts a conversation to `input` items of the Responses API. Items that came from that API go back unchanged:
 * reasoning with its encrypted content, ids, items of built-in tools. `losses` lists everything that cannot be kept:
 * names, metadata, reasoning and fields of other APIs, images in replies.
 */
export const toResponseItems = (messages: readonly Message[]): Exported<readonly ResponseItem[]> => {
  const value: ResponseItem[] = [];
  const groups: Group[] = [];
  let ids: CallIds = callIdsOf([]);
  let calls: readonly ToolCallPart[] = [];
  for (const [index, message] of messages.entries()) {
    const from = value.length;
    const result = toolResultOf(message);
    if (result === undefined) {
      calls = toolCallsOf(message);
      if (calls.length > 0) ids = callIdsOf([message]);
      value.push(...(message.role === "assistant" ? replyItems(message, ids) : [inputMessage(message)]));
    } else {
      const call = calls.find(({ callId }) => callId === result.callId);
      value.push(resultItem(result, call, ids));
    }
    groups.push({ messages: [{ message, index }], from, to: value.length });
  }
  return { value, losses: exportLosses(groups, readResponseItems(value), reasons) };
};

/**
 * Reads a conversation of Responses items: inputs and outputs in sequence, or a text. Returns an error that names the
 * invalid item, or the call and output that do not match, and how to fix it. Items of built-in tools and references
 * are kept for the Responses API.
 */
export const fromResponseItems = (
  items: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> =>
  Either.chain((reading: Reading) => importConversation(reading, options))(readResponseItems(items));

const inputMessage = ({ role, parts, provider }: Message): ResponseItem => {
  const [only, second] = parts;
  const own = only === undefined || second !== undefined ? undefined : foreignValue(only, "responses");
  // An item that is not a message (a list of tools, an approval) is returned unchanged. Its type distinguishes it from
  // a part of a message.
  if (own !== undefined && typeof own["type"] === "string" && !own["type"].startsWith("input_"))
    return { ...own, type: own["type"] };
  return { type: "message", role, content: inputContent(parts), ...fieldsFor(provider, "responses") };
};

/** Returns the items of a reply in their original order. Without one, parts come first and calls last. */
const replyItems = (message: Message, ids: CallIds): readonly ResponseItem[] => {
  const items: ResponseItem[] = [];
  let said: Part[] = [];
  let fields = fieldsFor(message.provider, "responses");
  const flush = (): void => {
    if (said.length > 0) items.push(messageItem(said, fields));
    if (said.length > 0) fields = {};
    said = [];
  };
  for (const part of inOrder(message.parts, placeOfItem)) {
    const item = ownItem(part, ids);
    const begun = messageBegunBy(part);
    if (item !== undefined || begun !== undefined) flush();
    if (begun !== undefined) fields = begun;
    if (item !== undefined) items.push(item);
    else if (outputPart(part).length > 0) said.push(part);
  }
  flush();
  return items.length === 0 ? [messageItem([], fields)] : items;
};

const ownItem = (part: Part, ids: CallIds): ResponseItem | undefined => {
  if (part.type === "toolCall") return callItem(part, ids);
  const own =
    part.type === "reasoning" ? fieldsFor(part.provider, "responses")["item"] : foreignValue(part, "responses");
  return isJsonObject(own) && typeof own["type"] === "string" ? { ...own, type: own["type"] } : undefined;
};

const messageItem = (parts: readonly Part[], fields: JsonObject): ResponseItem => {
  const written = parts.flatMap(outputPart);
  // A message with an id belongs to an output, whose content is always a list.
  const content = Object.keys(fields).length === 0 || written.length === 0 ? plainOr(written) : written;
  return { type: "message", role: "assistant", content, ...fields };
};

const reasons: Reasons = {
  outcomes: false,
  callId: "each call has an id here, which no other call of the same reply has",
  field: (name) =>
    name === "provider" ? "the Responses API refuses fields that it does not know" : "an item has no place for it",
  part: (part: Part): string => {
    switch (part.type) {
      case "data":
        return "it is written as a text";
      case "reasoning":
        return "the Responses API takes back its own reasoning only";
      case "image":
        return "a model's message holds texts and refusals only";
      case "opaque":
        return isForeign(part.value) ? "only the format that it came from has it" : "there is no such part here";
      case "toolCall":
      case "toolResult":
        return "its arguments are read in another way";
      case "text":
      case "refusal":
        return part.text === "" ? "an empty text is no content" : "its other fields are another format's";
    }
  },
};
