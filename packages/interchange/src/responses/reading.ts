import * as Either from "fp-ts/lib/Either.js";
import type { Json, JsonObject, ReasoningPart } from "@colloquy/machine";
import { isJsonObject } from "../exchange/json-object.ts";
import { foreignPart, presentOf, providerOf } from "../exchange/foreign.ts";
import { eachItem, type ImportProblem, problem, shaped } from "../exchange/import-problem.ts";
import { type Lose, loseRest } from "../exchange/loss.ts";
import { notebook, type Piece, type Reading } from "../exchange/piece.ts";
import { callOfItem, callOfOtherItem } from "./calls.ts";
import { contentOfItem, replyContentOfItem } from "./content.ts";
import {
  clientCalls,
  customCallItem,
  fromUser,
  functionCallItem,
  isOtherType,
  isOutputType,
  messageItem,
  otherItem,
  outputItem,
  reasoningItem,
} from "./item.ts";
import { beginsAnother, draftOf, joined, type Reply, type ReplyItem } from "./reply.ts";

/** Reads the items of Responses inputs and outputs in sequence. A string is a user message. */
export const readResponseItems = (items: unknown): Either.Either<ImportProblem, Reading> => {
  const list = typeof items === "string" ? [{ role: "user", content: items }] : items;
  const book = notebook();
  const answered = answeredCalls(list);
  let reply: Reply | null = null;
  const flush = (): void => {
    if (reply !== null) book.add(reply.index, { role: "assistant", ...draftOf(reply) });
    reply = null;
  };
  const read = eachItem<Json>(list, "Responses items", (value, index) =>
    Either.map((item: ReplyItem | InputPiece) => {
      if ("draft" in item) {
        flush();
        book.add(index, item.draft, item.opensNoTurn);
      } else {
        if (reply !== null && beginsAnother(reply, item)) flush();
        reply = joined(reply, item, book.loseAt(index), index);
      }
      return value;
    })(readItem(value, index, answered, book.loseAt(index))),
  );
  flush();
  return Either.map((): Reading => book)(read);
};

/** The message of an item that is not the model's: of a system, a user or a tool. */
export type InputPiece = Omit<Piece, "index">;

/**
 * Reads one item.
 *
 * @param answered The ids of calls that have an output.
 */
export const readItem = (
  value: Json,
  index: number,
  answered: ReadonlySet<unknown>,
  lose: Lose,
): Either.Either<ImportProblem, ReplyItem | InputPiece> => {
  if (!isJsonObject(value)) return problem(index, `item ${index} is not a Responses item: expected an object`);
  const type = value["type"] ?? ("role" in value ? "message" : "item_reference");
  switch (type) {
    case "message":
      return Either.map((item: MessageItem) => readMessage(item, value))(
        shaped(messageItem, value, index, "a message"),
      );
    case "function_call":
      return Either.map(() => callItem(value))(shaped(functionCallItem, value, index, "a function_call"));
    case "custom_tool_call":
      return Either.map(() => callItem(value))(shaped(customCallItem, value, index, "a custom_tool_call"));
    case "function_call_output":
    case "custom_tool_call_output":
      return Either.map((item: OutputItem) => readOutput(item, lose))(shaped(outputItem, value, index, `a ${type}`));
    case "reasoning":
      return Either.map(() => ({ parts: [reasoningOf(value)] }))(
        shaped(reasoningItem, value, index, "a reasoning item"),
      );
    default:
      if (typeof type !== "string" || !isOtherType(type))
        return problem(
          index,
          `item ${index} has the type ${JSON.stringify(type)}, which the Responses API is not known to have: leave it out, or correct it`,
        );
      return Either.map((item: OtherItem) => readOther({ ...value, type }, item.call_id ?? null, answered))(
        shaped(otherItem, { ...value, type }, index, `a ${type}`),
      );
  }
};

type MessageItem = ReturnType<typeof messageItem.parse>;
type OutputItem = ReturnType<typeof outputItem.parse>;
type OtherItem = ReturnType<typeof otherItem.parse>;

const readMessage = ({ role, content }: MessageItem, item: JsonObject): ReplyItem | InputPiece => {
  const { type: _type, role: _role, content: _content, ...rest } = item;
  const fields = presentOf(rest);
  if (role === "assistant") return { parts: replyContentOfItem(content), message: fields };
  return { draft: { role, content: contentOfItem(content), ...providerOf({ responses: fields }) } };
};

const callItem = (item: JsonObject): ReplyItem => ({ parts: [], call: callOfItem(item) });

const readOutput = ({ type: _, call_id: toolCallId, output, ...rest }: OutputItem, lose: Lose): InputPiece => {
  loseRest(lose, "", rest, "a result keeps its call and its content");
  return { draft: { role: "tool", toolCallId: toolCallId ?? null, content: contentOfItem(output) } };
};

/**
 * Returns a reasoning item with its text. The whole item is kept, because its id and encrypted content must go back.
 */
const reasoningOf = (item: JsonObject): ReasoningPart => {
  const { summary, content } = item;
  const texts = textsOf(content).length > 0 ? textsOf(content) : textsOf(summary);
  return { type: "reasoning", text: texts.join("\n"), provider: { responses: { item } } };
};

const textsOf = (list: Json | undefined): readonly string[] =>
  Array.isArray(list)
    ? list.flatMap((part: Json) => (isJsonObject(part) && typeof part["text"] === "string" ? part["text"] : []))
    : [];

/**
 * Reads an item of a type that is kept unchanged. An output becomes a tool message, and an item with an output becomes
 * a call. Others become a part of the reply, or of a message of their role.
 */
const readOther = (
  item: JsonObject & { readonly type: string },
  id: string | null,
  answered: ReadonlySet<unknown>,
): ReplyItem | InputPiece => {
  const part = foreignPart("responses", item);
  if (id !== null && isOutputType(item.type)) return { draft: { role: "tool", toolCallId: id, content: [part] } };
  if (id !== null && (clientCalls.includes(item.type) || answered.has(id)))
    return { parts: [], call: callOfOtherItem(item, id) };
  const { role } = item;
  if (role === "system" || role === "developer") return { draft: { role, content: [part] } };
  if (role === "user" || fromUser.includes(item.type))
    return { draft: { role: "user", content: [part] }, opensNoTurn: true };
  return { parts: [part] };
};

/** Returns the ids of the calls that have an output in the list. */
export const answeredCalls = (items: unknown): ReadonlySet<unknown> => {
  const list: readonly unknown[] = Array.isArray(items) ? items : [];
  return new Set(
    list.flatMap((item) =>
      isJsonObject(item) && typeof item["type"] === "string" && isOutputType(item["type"]) ? item["call_id"] : [],
    ),
  );
};
