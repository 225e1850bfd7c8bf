import * as Either from "fp-ts/lib/Either.js";
import { type Json, type Message, type Part, toolCallsOf } from "@colloquy/machine";
import { callIdsOf } from "../exchange/call-ids.ts";
import type { ChatMessage } from "./wire-message.ts";
import { type ChatMessageOptions, chatMessageUnder, fromChatMessage } from "./message.ts";
import { FunctionReader } from "./functions.ts";
import { chatLosses } from "./losses.ts";
import { foreignFields, isForeign } from "../exchange/foreign.ts";
import { exportLosses, type Group, type Reasons } from "../exchange/export-losses.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import { eachItem, type ImportProblem, problem } from "../exchange/import-problem.ts";
import { type Exported, saysNothing } from "../exchange/loss.ts";
import { notebook, type Reading } from "../exchange/piece.ts";

/**
 * Converts a conversation to chat messages, each as `toChatMessage` does. Calls of one round with the same id get
 * different ids. `losses` lists everything that the format cannot hold, and what a chat server takes back only
 * changed.
 */
export const toChatMessages = (
  messages: readonly Message[],
  { missingIds = "derived" }: ChatMessageOptions = {},
): Exported<readonly ChatMessage[]> => {
  let ids = callIdsOf([]);
  const value = messages.map((message) => {
    if (toolCallsOf(message).length > 0) ids = callIdsOf([message], missingIds);
    return chatMessageUnder(message, ids, missingIds);
  });
  const groups = messages.map((message, index): Group => ({
    messages: [{ message, index }],
    from: index,
    to: index + 1,
  }));
  return { value, losses: exportLosses(groups, readChatMessages(value), reasons) };
};

/**
 * Reads a conversation of chat messages (the `messages` of a request, with the replies). Returns an error that names
 * the invalid message, or the call and result that do not match, and how to fix it. The result is well-formed and
 * ready to be sent to a thread. Old functions are read as tools.
 */
export const fromChatMessages = (
  messages: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> =>
  Either.chain((reading: Reading) => importConversation(reading, options))(readChatMessages(messages));

const readChatMessages = (messages: unknown): Either.Either<ImportProblem, Reading> => {
  const book = notebook();
  const names = new Map<string, string>();
  const functions = new FunctionReader(book);
  const read = eachItem<Json>(messages, "chat messages", (wire, index) => {
    const message = functions.read(wire, index);
    if (message === undefined) return Either.right(wire);
    const draft = fromChatMessage(message);
    if (Either.isLeft(draft)) return problem(index, `item ${index} is ${draft.left}`);
    chatLosses(message, book.loseAt(index), names);
    book.add(index, draft.right);
    return Either.right(wire);
  });
  return Either.map((): Reading => book)(read);
};

const reasons: Reasons = {
  outcomes: false,
  callId: "chat servers want an id for each call, which no other call of the same reply has",
  field: (name) =>
    name === "provider" ? "chat servers refuse fields that they do not know" : `a chat message has no place for it`,
  part: (part: Part): string => {
    switch (part.type) {
      case "data":
        return "it is written as a text";
      case "reasoning":
        return Object.keys(part.provider ?? {}).some((field) => foreignFields.includes(field))
          ? "only the format that it came from takes it back"
          : "it goes back beside tool calls only, under the names under which it came";
      case "toolCall":
      case "toolResult":
        return "its arguments are read in another way";
      case "opaque":
        return isForeign(part.value) ? "only the format that it came from has it" : "it is read as another part";
      case "text":
      case "image":
      case "refusal":
        return saysNothing(textOfPart(part)) ? "an empty text is no content" : "it is read as another part";
    }
  },
};

const textOfPart = (part: Part): string => ("text" in part ? part.text : part.type);
