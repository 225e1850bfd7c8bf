import * as Either from "fp-ts/lib/Either.js";
import { type Json, type Message, type Part, toolCallsOf, type JsonObject } from "@colloquy/machine";
import { callIdsOf } from "../exchange/call-ids.ts";
import type { ChatMessage } from "./wire-message.ts";
import { type ChatMessageOptions, chatMessageUnder, fromChatMessage } from "./message.ts";
import { foreignFields, isForeign } from "../exchange/foreign.ts";
import { exportLosses, type Group, type Reasons } from "../exchange/export-losses.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import { eachItem, type ImportProblem, problem } from "../exchange/import-problem.ts";
import { type Exported, saysNothing, type Lose, loseRest } from "../exchange/loss.ts";
import { notebook, type Reading, type Notebook } from "../exchange/piece.ts";
import { isJsonObject, without } from "../exchange/json-object.ts";
import { orRepair } from "../exchange/pairing.ts";

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

/**
 * Reads the functions that chat completions had before tools. A message with a `function_call` calls a tool, and one
 * with the role `function` is its result. They have no ids, so they are matched by the function's name. A result
 * without an earlier call is reported and left out (undefined).
 */
class FunctionReader {
  readonly #book: Notebook;
  /** The last called function without a result. */
  #called: string | null = null;

  constructor(book: Notebook) {
    this.#book = book;
  }

  /** Returns the message in the form with tools. */
  read(wire: Json, index: number): Json | undefined {
    if (!isJsonObject(wire)) return wire;
    if (wire["role"] === "assistant") return this.#call(wire, index);
    return wire["role"] === "function" ? this.#result(wire, index) : wire;
  }

  #call(wire: JsonObject, index: number): JsonObject {
    const { function_call: called, ...rest } = wire;
    const name = isJsonObject(called) ? called["name"] : undefined;
    // Some servers write both forms.
    if (called === undefined || typeof name !== "string" || name === "" || !saysNothing(rest["tool_calls"]))
      return wire;
    this.#called = name;
    this.#book.loseAt(index)("function_call", `the form of the call of "${name}"`, goesBackAsTool);
    return { ...rest, tool_calls: [{ type: "function", function: called }] };
  }

  #result(wire: JsonObject, index: number): JsonObject | undefined {
    const name = typeof wire["name"] === "string" ? wire["name"] : (this.#called ?? "");
    const answers = this.#called !== null && this.#called === name;
    if (!answers) {
      const what = `the result of the function "${name}"`;
      this.#book.mend({
        index,
        reason: `item ${index} is ${what}, which no item before it waits for: leave it out, or give the call as well, as the function_call of an assistant message${orRepair}`,
        repair: { index, path: "", what, why: "no item before it waits for it" },
      });
      return undefined;
    }
    this.#called = null;
    this.#book.loseAt(index)("role", `the form of the result of "${name}"`, goesBackAsTool);
    return { ...wire, role: "tool" };
  }
}

const goesBackAsTool = "a thread has tool calls and their results, and gives it back as one";

/**
 * Reports what `fromChatMessage` leaves out of a message: fields that servers send and do not take back. `names` holds
 * the tool names of the calls so far, by id, since a result repeats the name of its tool.
 */
const chatLosses = (wire: Json, lose: Lose, names: Map<string, string>): void => {
  if (!isJsonObject(wire)) return;
  const { role, content: _, ...rest } = wire;
  const kept = role === "assistant" ? ofReplies : role === "tool" ? ofResults : ofOthers;
  loseRest(lose, "", without(rest, kept), toldOnly);
  if (role === "tool") return lostOfResult(wire, lose, names);
  if (role !== "assistant") return;
  if (isJsonObject(wire["audio"])) loseRest(lose, "audio", without(wire["audio"], ["id", "transcript"]), toldOnly);
  const calls = wire["tool_calls"] ?? [];
  if (!isList(calls)) return;
  for (const [place, call] of calls.entries()) lostOfCall(call, `tool_calls.${place}`, lose, names);
};

const ofReplies = [
  "name",
  "refusal",
  "tool_calls",
  "reasoning",
  "reasoning_content",
  "thinking",
  "reasoning_details",
  "thinking_blocks",
  "extra_content",
  "function_call",
  "audio",
  "prefix",
  "partial",
  "cache_control",
];
const ofResults = ["tool_call_id", "name"];
const ofOthers = ["name", "cache_control"];
const toldOnly = "servers do not take it back, so a thread does not keep it";

const lostOfCall = (call: Json, path: string, lose: Lose, names: Map<string, string>): void => {
  if (!isJsonObject(call)) return;
  const { id, function: called, custom } = call;
  const inner = called ?? custom;
  if (!isJsonObject(inner)) return;
  if (typeof id === "string" && typeof inner["name"] === "string") names.set(id, inner["name"]);
  // The index in a stream equals the index in the list.
  loseRest(lose, path, without(call, ["id", "type", "index", "function", "custom", "extra_content"]), toldOnly);
  const read = called === undefined ? ["name", "input"] : ["name", "arguments"];
  loseRest(lose, path, without(inner, read), toldOnly);
};

const lostOfResult = (wire: JsonObject, lose: Lose, names: Map<string, string>): void => {
  const { name, tool_call_id: id } = wire;
  if (typeof name !== "string" || name === "") return;
  const called = typeof id === "string" ? names.get(id) : undefined;
  if (called !== undefined && called !== name) lose("name", `the name "${name}"`, `the call is one of "${called}"`);
};

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
