import * as z from "zod/mini";
import type { Json, JsonObject, ReasoningPart, ReplyDraft, ToolCallDraft } from "@colloquy/machine";
import { foreignPart, placedBefore, providerOf } from "../exchange/foreign.ts";
import { eachItem, shaped, Unreadable } from "../exchange/import-problem.ts";
import { isJsonObject, presentOf } from "../exchange/json.ts";
import {
  type Lose,
  loseRest,
  notebook,
  type Piece,
  plainText,
  type Reading,
  type ReplyPart,
} from "../exchange/reading.ts";
import {
  beginningMessage,
  callOfItem,
  callOfOtherItem,
  contentOfItem,
  placeOfItem,
  replyContentOfItem,
  type ResponseItem,
  textTypes,
} from "./content.ts";

/** Reads the items of Responses inputs and outputs in sequence. A string is a user message. @throws Unreadable */
export const readResponseItems = (items: unknown): Reading => {
  const list = typeof items === "string" ? [{ role: "user", content: items }] : items;
  const book = notebook();
  const answered = answeredCalls(list);
  let reply: Reply | null = null;
  const flush = (): void => {
    if (reply !== null) book.add(reply.index, { role: "assistant", ...draftOf(reply) });
    reply = null;
  };
  eachItem(list, "Responses items", (value, index) => {
    const item = readItem(value, index, answered, book.loseAt(index));
    if ("draft" in item) {
      flush();
      book.add(index, item.draft, item.opensNoTurn);
      return;
    }
    if (reply !== null && beginsAnother(reply, item)) flush();
    reply = joined(reply, item, book.loseAt(index), index);
  });
  flush();
  return book;
};

const text = z.string();
const textList = z.nullish(z.array(z.looseObject({ text: z.nullish(text) })));
const part = z.custom<JsonObject>(
  (value) =>
    isJsonObject(value) &&
    typeof value["type"] === "string" &&
    (!textTypes.includes(value["type"]) || typeof value["text"] === "string") &&
    (value["type"] !== "refusal" || typeof value["refusal"] === "string"),
  "expected a part with its type, and its text where it is one",
);
const content = z.pipe(
  z.nullish(z.union([text, z.array(part)], "expected a text or a list of parts")),
  z.transform((given) => given ?? ""),
);

/** The schema of a message: of an output, or of an input, which may leave out its type. */
const messageItem = z.looseObject({ role: z.enum(["system", "developer", "user", "assistant"]), content });
const functionCallItem = z.looseObject({ call_id: z.nullish(text), name: text, arguments: z.nullish(text) });
const customCallItem = z.looseObject({ call_id: z.nullish(text), name: text, input: z.nullish(text) });
/** The output of a function, or of a custom tool. */
const outputItem = z.looseObject({ type: text, call_id: z.nullish(text), output: content });
const reasoningItem = z.looseObject({ summary: textList, content: textList });
/** The schema of an item that only the Responses API understands. */
const otherItem = z.looseObject({ type: text, role: z.nullish(text), call_id: z.nullish(text) });

/** Calls with their own items that the caller runs; an output must follow. */
export const clientCalls: readonly string[] = ["computer_call", "local_shell_call", "apply_patch_call"];

/** The types of items without a role that come from the user. */
const fromUser: readonly string[] = ["mcp_approval_response", "compaction_trigger", "configuration_update"];

/** The types of items that are kept unchanged, beside calls and outputs of any kind. */
const keptTypes: readonly string[] = [
  "item_reference",
  "mcp_list_tools",
  "mcp_approval_request",
  "additional_tools",
  "compaction",
  "compaction_summary",
  "program",
  ...fromUser,
];

/** The message of an item that is not the model's: of a system, a user or a tool. */
type InputPiece = Omit<Piece, "index">;

/**
 * Reads one item.
 *
 * @param answered The ids of calls that have an output.
 * @throws Unreadable
 */
export const readItem = (
  value: Json,
  index: number,
  answered: ReadonlySet<unknown>,
  lose: Lose,
): ReplyItem | InputPiece => {
  if (!isJsonObject(value)) throw new Unreadable(index, `item ${index} is not a Responses item: expected an object`);
  const type = value["type"] ?? ("role" in value ? "message" : "item_reference");
  switch (type) {
    case "message":
      return readMessage(shaped(messageItem, value, index, "a message"), value);
    case "function_call":
      shaped(functionCallItem, value, index, "a function_call");
      return { parts: [], call: callOfItem(value) };
    case "custom_tool_call":
      shaped(customCallItem, value, index, "a custom_tool_call");
      return { parts: [], call: callOfItem(value) };
    case "function_call_output":
    case "custom_tool_call_output": {
      const { type: _, call_id: id, output, ...rest } = shaped(outputItem, value, index, `a ${type}`);
      loseRest(lose, "", rest, "a result keeps its call and its content");
      return { draft: { role: "tool", toolCallId: id ?? null, content: contentOfItem(output) } };
    }
    case "reasoning":
      shaped(reasoningItem, value, index, "a reasoning item");
      return { parts: [reasoningOf(value)] };
    default: {
      if (typeof type !== "string" || !(keptTypes.includes(type) || /_(call|output)$/.test(type)))
        throw new Unreadable(
          index,
          `item ${index} has the type ${JSON.stringify(type)}, which the Responses API is not known to have: leave it out, or correct it`,
        );
      const item = { ...value, type };
      return readOther(item, shaped(otherItem, item, index, `a ${type}`).call_id ?? null, answered);
    }
  }
};

const readMessage = (
  { role, content: said }: z.infer<typeof messageItem>,
  item: JsonObject,
): ReplyItem | InputPiece => {
  const { type: _type, role: _role, content: _content, ...rest } = item;
  const fields = presentOf(rest);
  if (role === "assistant") return { parts: replyContentOfItem(said), message: fields };
  return { draft: { role, content: contentOfItem(said), ...providerOf({ responses: fields }) } };
};

/**
 * Returns a reasoning item with its text. The whole item is kept, because its id and encrypted content must go back.
 */
const reasoningOf = (item: JsonObject): ReasoningPart => {
  const said = textsOf(item["content"]);
  const texts = said.length > 0 ? said : textsOf(item["summary"]);
  return { type: "reasoning", text: texts.join("\n"), provider: { responses: { item } } };
};

const textsOf = (list: Json | undefined): readonly string[] =>
  Array.isArray(list)
    ? list.flatMap((each: Json) => (isJsonObject(each) && typeof each["text"] === "string" ? each["text"] : []))
    : [];

/**
 * Reads an item of a type that is kept unchanged. An output becomes a tool message, and an item with an output becomes
 * a call. Others become a part of the reply, or of a message of their role.
 */
const readOther = (item: ResponseItem, id: string | null, answered: ReadonlySet<unknown>): ReplyItem | InputPiece => {
  const kept = foreignPart("responses", item);
  if (id !== null && isOutputType(item.type)) return { draft: { role: "tool", toolCallId: id, content: [kept] } };
  if (id !== null && (clientCalls.includes(item.type) || answered.has(id)))
    return { parts: [], call: callOfOtherItem(item, id) };
  const { role } = item;
  if (role === "system" || role === "developer") return { draft: { role, content: [kept] } };
  if (role === "user" || fromUser.includes(item.type))
    return { draft: { role: "user", content: [kept] }, opensNoTurn: true };
  return { parts: [kept] };
};

/** Returns whether items of a type hold the result of a call. */
const isOutputType = (type: string): boolean => type.endsWith("_output");

/** Returns the ids of the calls that have an output in the list. */
export const answeredCalls = (items: unknown): ReadonlySet<unknown> => {
  const list: readonly unknown[] = Array.isArray(items) ? items : [];
  return new Set(
    list.flatMap((item) =>
      isJsonObject(item) && typeof item["type"] === "string" && isOutputType(item["type"]) ? item["call_id"] : [],
    ),
  );
};

/** The contribution of a model's item to a reply. Consecutive items form one reply. */
export interface ReplyItem {
  readonly parts: readonly ReplyPart[];
  readonly call?: ToolCallDraft;
  /** The other fields of a message item. */
  readonly message?: JsonObject;
}

/** A reply made of items. It grows in place, since an output may have thousands of items. */
export interface Reply {
  /** The index of the first item. */
  readonly index: number;
  readonly parts: ReplyPart[];
  readonly calls: ToolCallDraft[];
  /** The index of the first call after all parts so far. */
  behind: number;
  message: JsonObject | undefined;
}

/**
 * Returns whether an item begins another reply. A second message item does, unless the reply has calls that wait for
 * their results.
 */
const beginsAnother = (reply: Reply, added: ReplyItem): boolean =>
  added.message !== undefined && reply.message !== undefined && reply.calls.length === 0;

/** Adds an item to a reply, or starts one. */
export const joined = (before: Reply | null, added: ReplyItem, lose: Lose, index: number): Reply => {
  const reply = before ?? { index, parts: [], calls: [], behind: 0, message: undefined };
  if (before !== null && (isBlank(added) || isBlank(before)))
    lose("", "an empty message of the model", "what stands beside it is the reply");
  const parts = reply.message === undefined || added.message === undefined ? added.parts : begunBy(added, lose);
  if (parts.length > 0) {
    const calls = placedBefore(reply.parts.length, reply.calls.slice(reply.behind), placeOfItem);
    for (const [place, call] of calls.entries()) reply.calls[reply.behind + place] = call;
    reply.behind = reply.calls.length;
  }
  reply.parts.push(...parts);
  if (added.call !== undefined) reply.calls.push(added.call);
  reply.message ??= added.message;
  return reply;
};

/** Returns whether it is an empty message item. */
const isBlank = ({ parts, message, ...said }: ReplyItem | Reply): boolean =>
  message !== undefined && parts.length === 0 && !("calls" in said && said.calls.length > 0) && !("call" in said);

/** Returns the draft of a reply. */
export const draftOf = ({ parts, calls, message }: Reply): ReplyDraft => ({
  ...(parts.length === 0 ? {} : { content: plainText(parts) ?? parts }),
  ...(calls.length === 0 ? {} : { toolCalls: calls }),
  ...providerOf({ responses: message ?? {} }),
});

/** Returns the parts of a second message item. */
const begunBy = ({ parts, message = {} }: ReplyItem, lose: Lose): ReplyItem["parts"] => {
  const begun = beginningMessage(parts, message);
  if (begun === null) loseRest(lose, "", message, "it joins the message before it, which is a part of the same reply");
  return begun ?? parts;
};
