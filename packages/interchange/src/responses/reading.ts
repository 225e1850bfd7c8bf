import * as Either from "fp-ts/lib/Either.js";
import type {
  Json,
  JsonObject,
  ContentPart,
  ReasoningPart,
  RefusalPart,
  ToolCallDraft,
  SeedReply,
} from "@colloquy/machine";
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

/** Reads the items of an input, an output, or several of them one after the other; a text is a user's message. */
export const readResponseItems = (items: unknown): Either.Either<ImportProblem, Reading> => {
  const list = typeof items === "string" ? [{ role: "user", content: items }] : items;
  const book = notebook();
  const answered = answeredCalls(list);
  let reply: Reply | null = null;
  const flush = (): void => {
    if (reply !== null) book.add(reply.index, draftOf(reply));
    reply = null;
  };
  const read = eachItem<Json>(list, "Responses items", (value, index) =>
    Either.map((item: Said | Heard) => {
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

/** What an item adds to the reply that it is part of. */
interface Said {
  readonly parts: readonly (ContentPart | ReasoningPart | RefusalPart)[];
  readonly call?: ToolCallDraft;
  /** The fields of a message item, which begins a reply where one was said already. */
  readonly message?: JsonObject;
}

interface Reply extends Omit<Said, "call"> {
  readonly index: number;
  readonly calls: readonly ToolCallDraft[];
}

/** What an item says that is not a model's. */
type Heard = Omit<Piece, "index">;

const readItem = (
  value: Json,
  index: number,
  answered: ReadonlySet<unknown>,
  lose: Lose,
): Either.Either<ImportProblem, Said | Heard> => {
  if (!isJsonObject(value)) return problem(index, `item ${index} is not a Responses item: expected an object`);
  const type = value["type"] ?? ("role" in value ? "message" : "item_reference");
  switch (type) {
    case "message":
      return Either.map((item: MessageItem) => readMessage(item, value))(
        shaped(messageItem, value, index, "a message"),
      );
    case "function_call":
      return Either.map(() => saidCall(value))(shaped(functionCallItem, value, index, "a function_call"));
    case "custom_tool_call":
      return Either.map(() => saidCall(value))(shaped(customCallItem, value, index, "a custom_tool_call"));
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

const readMessage = ({ role, content }: MessageItem, item: JsonObject): Said | Heard => {
  const { type: _type, role: _role, content: _content, ...rest } = item;
  const fields = presentOf(rest);
  if (role === "assistant") return { parts: replyContentOfItem(content), message: fields };
  return { draft: { role, content: contentOfItem(content), ...providerOf({ responses: fields }) } };
};

const saidCall = (item: JsonObject): Said => ({ parts: [], call: callOfItem(item) });

const readOutput = ({ type: _, call_id: toolCallId, output, ...rest }: OutputItem, lose: Lose): Heard => {
  loseRest(lose, "", rest, "a result keeps its call and its content");
  return { draft: { role: "tool", toolCallId: toolCallId ?? null, content: contentOfItem(output) } };
};

/** A reasoning item with its text, kept whole: its id and what is encrypted in it must go back. */
const reasoningOf = (item: JsonObject): ReasoningPart => {
  const { summary, content } = item;
  const texts = textsOf(content).length > 0 ? textsOf(content) : textsOf(summary);
  return { type: "reasoning", text: texts.join("\n"), provider: { responses: { item } } };
};

const textsOf = (list: Json | undefined): readonly string[] =>
  Array.isArray(list)
    ? list.flatMap((part: Json) => (isJsonObject(part) && typeof part["text"] === "string" ? part["text"] : []))
    : [];

/** An item that is kept as it came. With an output it is a call, and they are a round; else a part of what was said. */
const readOther = (
  item: JsonObject & { readonly type: string },
  id: string | null,
  answered: ReadonlySet<unknown>,
): Said | Heard => {
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

/** The ids of calls that an output answers. */
const answeredCalls = (items: unknown): ReadonlySet<unknown> => {
  const list: readonly unknown[] = Array.isArray(items) ? items : [];
  return new Set(
    list.flatMap((item) =>
      isJsonObject(item) && typeof item["type"] === "string" && isOutputType(item["type"]) ? item["call_id"] : [],
    ),
  );
};

/** A second message of a model is a reply of its own, unless calls wait for their results. */
const beginsAnother = (reply: Reply, said: Said): boolean =>
  said.message !== undefined && reply.message !== undefined && reply.calls.length === 0;

const joined = (reply: Reply | null, said: Said, lose: Lose, index: number): Reply => {
  const before = reply ?? { index, parts: [], calls: [] };
  if (before.calls.length > 0 && said.parts.length > 0)
    lose("", "its place behind a call", "a reply says what it says first, and calls last");
  if (before.message !== undefined && said.message !== undefined)
    loseRest(lose, "", said.message, "it joins the message before it, which asked for the same round");
  const message = before.message ?? said.message;
  return {
    index: before.index,
    parts: [...before.parts, ...said.parts],
    calls: said.call === undefined ? before.calls : [...before.calls, said.call],
    ...(message === undefined ? {} : { message }),
  };
};

const draftOf = ({ parts, calls, message }: Reply): SeedReply => {
  const [first, second] = parts;
  const plain = first?.type === "text" && second === undefined && !("provider" in first);
  return {
    role: "assistant",
    ...(first === undefined ? {} : { content: plain ? first.text : parts }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
    ...providerOf({ responses: message }),
  };
};
