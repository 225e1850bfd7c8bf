import * as Either from "fp-ts/lib/Either.js";
import type { Json, JsonObject, Message } from "@colloquy/machine";
import { exported, type Exported, type Reasons } from "../exchange/export.ts";
import { foreignFields } from "../exchange/foreign.ts";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import { caught, eachItem, type ImportProblem, Unreadable } from "../exchange/import-problem.ts";
import { isJsonObject, without } from "../exchange/json.ts";
import { type Lose, loseRest, type Notebook, notebook, type Reading, saysNothing } from "../exchange/reading.ts";
import {
  type ChatMessage,
  type ChatMessageOptions,
  chatMessageUnder,
  fromChatMessage,
  keptFields,
  reasoningFields,
} from "./message.ts";

/**
 * Converts a conversation to chat messages, each as `toChatMessage` does. Calls of one round with the same id get
 * different ids. `losses` lists everything that the format cannot hold, and what a chat server takes back only
 * changed.
 */
export const toChatMessages = (
  messages: readonly Message[],
  { missingIds = "derived" }: ChatMessageOptions = {},
): Exported<readonly ChatMessage[]> =>
  exported(
    messages,
    {
      write: (said, { ids }) => said.map((message) => chatMessageUnder(message, ids, missingIds)),
      read: readChatMessages,
      reasons,
    },
    missingIds,
  );

/**
 * Reads a conversation of chat messages (the `messages` of a request, with the replies). Returns an error that names
 * the invalid message, or the call and result that do not match, and how to fix it. The result is well-formed and
 * ready to be sent to a thread. Old functions are read as tools.
 */
export const fromChatMessages = (
  messages: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, Imported> => caught(() => importConversation(readChatMessages(messages), options));

/** Reads chat messages. @throws Unreadable */
export const readChatMessages = (messages: unknown): Reading => {
  const book = notebook();
  const names = new Map<string, string>();
  const functions = new FunctionReader(book);
  eachItem(messages, "chat messages", (wire, index) => {
    const message = functions.read(wire, index);
    if (message === undefined) return;
    const draft = fromChatMessage(message);
    if (Either.isLeft(draft)) throw new Unreadable(index, `item ${index} is ${draft.left}`);
    chatLosses(message, book.loseAt(index), names);
    book.add(index, draft.right);
  });
  return book;
};

const reasons: Reasons = {
  outcomes: false,
  callId: "chat servers want an id for each call, which no other call of the same reply has",
  field: "a chat message has no place for it",
  provider: "chat servers refuse fields that they do not know",
  parts: {
    data: "it is written as a text",
    reasoning: (part) =>
      "provider" in part && foreignFields.some((field) => part.provider?.[field] !== undefined)
        ? "only the format that it came from takes it back"
        : "it goes back beside tool calls only, under the names under which it came",
    toolCall: "its arguments are read in another way",
    toolResult: "its arguments are read in another way",
  },
  otherPart: "it is read as another part",
};

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
    if (this.#called !== name) {
      const what = `the result of the function "${name}"`;
      const reason = `item ${index} is ${what}, which no item before it waits for: leave it out, or give the call as well, as the function_call of an assistant message`;
      this.#book.mend(index, reason, what, "no item before it waits for it");
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
  const { audio, tool_calls: calls } = rest;
  const kept =
    role === "assistant" ? ofReplies : role === "tool" ? ["tool_call_id", "name"] : ["name", "cache_control"];
  loseRest(lose, "", without(rest, kept), toldOnly);
  if (role === "tool") return lostOfResult(wire, lose, names);
  if (role !== "assistant") return;
  if (isJsonObject(audio)) loseRest(lose, "audio", without(audio, ["id", "transcript"]), toldOnly);
  if (!Array.isArray(calls)) return;
  for (const [place, call] of calls.entries()) lostOfCall(call, `tool_calls.${place}`, lose, names);
};

const ofReplies: readonly string[] = ["name", "refusal", "tool_calls", ...reasoningFields, ...Object.keys(keptFields)];
const toldOnly = "servers do not take it back, so a thread does not keep it";

const lostOfCall = (call: unknown, path: string, lose: Lose, names: Map<string, string>): void => {
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
