import type * as Either from "fp-ts/lib/Either.js";
import { type JsonObject, type Message, type Part, toolResultOf } from "@colloquy/machine";
import { exported, type Exported, type Reasons, type Round } from "../exchange/export.ts";
import { fieldsFor, foreignValue, inOrder } from "../exchange/foreign.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import { caught, type ImportProblem } from "../exchange/import-problem.ts";
import { isEmpty } from "../exchange/json.ts";
import {
  callItem,
  inputContent,
  itemIn,
  messageBegunBy,
  outputPart,
  placeOfItem,
  plainOr,
  type ResponseItem,
  resultItem,
} from "./content.ts";
import { readResponseItems } from "./reading.ts";

/**
 * Converts a conversation to `input` items of the Responses API. Items that came from that API go back unchanged:
 * reasoning with its encrypted content, ids, items of built-in tools. `losses` lists everything that cannot be kept:
 * names, metadata, reasoning and fields of other APIs, images in replies.
 */
export const toResponseItems = (messages: readonly Message[]): Exported<readonly ResponseItem[]> =>
  exported(messages, {
    write: (said, round) => said.flatMap((message) => itemsOf(message, round)),
    read: readResponseItems,
    reasons,
  });

/**
 * Reads a conversation of Responses items: inputs and outputs in sequence, or a text. Returns an error that names the
 * invalid item, or the call and output that do not match, and how to fix it. Items of built-in tools and references
 * are kept for the Responses API.
 */
export const fromResponseItems = (
  items: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> => caught(() => importConversation(readResponseItems(items), options));

const itemsOf = (message: Message, round: Round): readonly ResponseItem[] => {
  const result = toolResultOf(message);
  if (result !== undefined) return [resultItem(result, round)];
  return message.role === "assistant" ? replyItems(message, round) : [inputMessage(message)];
};

const inputMessage = ({ role, parts, provider }: Message): ResponseItem => {
  // An item that is not a message (a list of tools, an approval) is returned unchanged. Its type distinguishes it from
  // a part of a message.
  const own = parts.length === 1 ? itemIn(foreignValue(parts[0], "responses")) : undefined;
  if (own !== undefined && !own.type.startsWith("input_")) return own;
  return { type: "message", role, content: inputContent(parts), ...fieldsFor(provider, "responses") };
};

/** Returns the items of a reply in their original order. Without one, parts come first and calls last. */
const replyItems = (message: Message, round: Round): readonly ResponseItem[] => {
  const items: ResponseItem[] = [];
  let said: Part[] = [];
  let fields = fieldsFor(message.provider, "responses");
  const flush = (): void => {
    if (said.length === 0) return;
    items.push(messageItem(said, fields));
    fields = {};
    said = [];
  };
  for (const part of inOrder(message.parts, placeOfItem)) {
    const item = ownItem(part, round);
    const begun = messageBegunBy(part);
    if (item !== undefined || begun !== undefined) flush();
    if (begun !== undefined) fields = begun;
    if (item !== undefined) items.push(item);
    else if (outputPart(part).length > 0) said.push(part);
  }
  flush();
  return items.length === 0 ? [messageItem([], fields)] : items;
};

const ownItem = (part: Part, round: Round): ResponseItem | undefined => {
  if (part.type === "toolCall") return callItem(part, round);
  return itemIn(
    part.type === "reasoning" ? fieldsFor(part.provider, "responses")["item"] : foreignValue(part, "responses"),
  );
};

const messageItem = (parts: readonly Part[], fields: JsonObject): ResponseItem => {
  const written = parts.flatMap(outputPart);
  // A message with an id belongs to an output, whose content is always a list.
  const content = isEmpty(fields) || written.length === 0 ? plainOr(written) : written;
  return { type: "message", role: "assistant", content, ...fields };
};

const reasons: Reasons = {
  outcomes: false,
  callId: "each call has an id here, which no other call of the same reply has",
  field: "an item has no place for it",
  provider: "the Responses API refuses fields that it does not know",
  parts: {
    data: "it is written as a text",
    reasoning: "the Responses API takes back its own reasoning only",
    image: "a model's message holds texts and refusals only",
    opaque: "there is no such part here",
    toolCall: "its arguments are read in another way",
    toolResult: "its arguments are read in another way",
  },
  otherPart: "its other fields are another format's",
};
