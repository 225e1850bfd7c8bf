import type { Json, JsonObject, SeedDraft, ToolDeclaration } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import { importConversation, type Imported, type ImportOptions } from "../exchange/import-conversation.ts";
import { caught, eachItem, type ImportProblem, jsonObject, shaped, Unreadable } from "../exchange/import-problem.ts";
import { defined, excerpt } from "../exchange/json.ts";
import { fromChatMessage } from "./message.ts";
import { readChatMessages } from "./messages.ts";

/** A conversation reconstructed from logged requests. */
export interface ExchangedConversation extends Imported {
  /** The tools that its first request offered. */
  readonly tools: readonly ToolDeclaration[];
  /** The time of its newest reply, in milliseconds since the epoch. Null if the responses do not contain it. */
  readonly at: number | null;
  /** Names the requests with replies that no earlier response gave: the log begins there, or was changed. */
  readonly remarks: readonly string[];
}

/**
 * Reads logged chat completions, each `{ request, response }` with the sent and received bodies, and reconstructs the
 * conversations. A request continues the longest conversation whose messages and reply it begins with. A request that
 * repeats a conversation with one changed message is an error that names the message and both texts. `remarks` lists
 * other replies that no earlier response gave.
 */
export const fromChatExchanges = (
  exchanges: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, readonly ExchangedConversation[]> =>
  caught(() => [...conversationsIn(exchanges)].map((conversation) => importOpen(conversation, options)));

const conversationsIn = (exchanges: unknown): ReadonlySet<Open> => {
  const open = new Set<Open>();
  const root = logged(null);
  eachItem(exchanges, "exchanges", (value, index) => {
    const { request, response } = shaped(exchangeShape, value, index, "an exchange of a chat completion");
    const message = response.choices?.[0]?.message;
    // A failed call left nothing in the conversation.
    if (message === undefined) return;
    const reply: JsonObject = { role: "assistant", ...message };
    const sent = request.messages;
    const texts = sent.map(textOf);
    const path = pathFrom(root, texts);
    const changed = changedMessage(path, sent, texts);
    if (changed !== null) throw new Unreadable(index, `item ${index}: ${changed}; log both as they went over the wire`);
    const remark = remarkOn(index, path, sent);
    const before = path.findLast(({ ends }) => ends.length > 0)?.ends.shift();
    if (before !== undefined) open.delete(before);
    const conversation: Open = {
      index,
      sent,
      reply,
      tools: before?.tools ?? toolsOf(request.tools),
      at: typeof response.created === "number" ? response.created * 1000 : (before?.at ?? null),
      remarks: [...(before?.remarks ?? []), ...(remark === null ? [] : [remark])],
    };
    open.add(conversation);
    const end = [...sent, reply].reduce((node: LoggedMessage, each, place) => {
      const text = texts[place] ?? textOf(each);
      const next = node.next.get(text) ?? logged({ item: index, message: each });
      node.next.set(text, next);
      return next;
    }, root);
    end.isReply = true;
    end.ends.push(conversation);
  });
  return open;
};

const importOpen = (
  { sent, reply, index, tools, at, remarks }: Open,
  options: ImportOptions,
): ExchangedConversation => {
  // The log does not show the results of a last reply's calls, and no prompt depends on them.
  const isAsking = Array.isArray(reply["tool_calls"]) && reply["tool_calls"].length > 0;
  const messages = isAsking ? sent : [...sent, reply];
  const imported = caught(() => importConversation(readChatMessages(messages), options));
  if (Either.isRight(imported)) return { ...imported.right, tools, at, remarks };
  const what = `item ${index}, a conversation of ${sent.length} messages`;
  throw new Unreadable(index, `${what}: ${imported.left.reason}`);
};

/** A conversation as read so far: its newest request and reply. */
interface Open extends Pick<ExchangedConversation, "tools" | "at" | "remarks"> {
  readonly index: number;
  readonly sent: readonly JsonObject[];
  readonly reply: JsonObject;
}

/** Returns a remark on new replies. Replies that an earlier request has in the same place were remarked on there. */
const remarkOn = (index: number, path: LoggedPath, sent: readonly JsonObject[]): string | null => {
  const replies = sent.slice(path.length - 1).filter(({ role }) => role === "assistant").length;
  if (replies === 0) return null;
  const other = [...(path.at(-1)?.next.values() ?? [])].at(-1);
  const differs =
    path.length === 1 || other === undefined ? "" : `; ${describeDifference(path.length - 1, sent, other)}`;
  return `item ${index}: its request has ${replies} ${replies === 1 ? "reply" : "replies"} that no earlier response gave${differs}`;
};

/**
 * Returns a text that is equal for messages of equal content. Clients differ in the provider fields that they send
 * back, and in how they write arguments.
 */
const textOf = (message: JsonObject): string => {
  const draft = fromChatMessage(message);
  if (Either.isLeft(draft)) return JSON.stringify(message);
  const { role, content } = draft.right;
  const calls = "toolCalls" in draft.right ? (draft.right.toolCalls ?? []) : [];
  return JSON.stringify([
    role,
    contentOf(content),
    "toolCallId" in draft.right ? draft.right.toolCallId : null,
    calls.map((call) => [call.id, call.name, valueOf(call.arguments)]),
  ]);
};

const valueOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const contentOf = (content: SeedDraft["content"]): unknown => {
  if (typeof content !== "object") return content ?? "";
  const parts = content.filter(({ type }) => type !== "reasoning");
  return parts.length === 0 ? "" : parts;
};

const toolsOf = (tools: readonly Json[] | null | undefined): readonly ToolDeclaration[] =>
  (tools ?? []).flatMap((tool) => {
    const read = toolShape.safeParse(tool);
    if (!read.success) return [];
    const { name, description, parameters } = read.data.function;
    return [{ name, ...defined({ description, parameters }) }];
  });

const exchangeShape = z.object({
  request: z.object({ messages: z.array(jsonObject), tools: z.nullish(z.array(z.any())) }),
  response: z.object({
    created: z.optional(z.unknown()),
    choices: z.nullish(z.array(z.object({ message: jsonObject }))),
  }),
});

const toolShape = z.object({
  function: z.object({ name: z.string(), description: z.optional(z.string()), parameters: z.optional(jsonObject) }),
});

/**
 * A message that was logged after the messages on the path to it. Conversations that differ from there on are
 * branches.
 */
interface LoggedMessage {
  /** The following messages, by their texts. */
  readonly next: Map<string, LoggedMessage>;
  /** The item that logged it first, with the message. Null for the root, before all first messages. */
  readonly first: { readonly item: number; readonly message: JsonObject } | null;
  /** Conversations whose newest reply it is, oldest first. */
  readonly ends: Open[];
  /** True if a response gave it. */
  isReply: boolean;
}

const logged = (first: LoggedMessage["first"]): LoggedMessage => ({ next: new Map(), first, ends: [], isReply: false });

/** A path of logged messages, which begins with the root. */
type LoggedPath = readonly LoggedMessage[];

/** Returns the path of the messages that were logged already. */
const pathFrom = (root: LoggedMessage, texts: readonly string[]): LoggedPath => {
  const path = [root];
  for (const text of texts) {
    const next = path.at(-1)?.next.get(text);
    if (next === undefined) break;
    path.push(next);
  }
  return path;
};

/**
 * Describes the first message that differs from the log, if a logged conversation with another message there otherwise
 * repeats up to a reply. Returns null if there is none.
 */
const changedMessage = (path: LoggedPath, messages: readonly JsonObject[], texts: readonly string[]): string | null => {
  const at = path.length - 1;
  if (at >= messages.length) return null;
  let found: { readonly other: LoggedMessage; readonly replyAt: number } | null = null;
  for (const other of path.at(-1)?.next.values() ?? []) {
    const replyAt = at + pathFrom(other, texts.slice(at + 1)).findLastIndex(({ isReply }) => isReply);
    if (replyAt >= Math.max(at, 1) && replyAt > (found?.replyAt ?? -1)) found = { other, replyAt };
  }
  return found === null ? null : describeDifference(at, messages, found.other);
};

const describeDifference = (at: number, messages: readonly JsonObject[], { first, isReply }: LoggedMessage): string =>
  `message ${at} of its request is ${excerpt(messages[at])}, and ${isReply ? "the reply in item" : "in item"} ${first?.item} ${isReply ? "was" : "it was"} ${excerpt(first?.message)}`;
