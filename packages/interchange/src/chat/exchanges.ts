import type { Json, JsonObject, SeedDraft, ToolDeclaration } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import type { Imported, ImportOptions } from "../exchange/import-conversation.ts";
import { eachItem, type ImportProblem, problem, shaped } from "../exchange/import-problem.ts";
import { fromChatMessage } from "./message.ts";
import {
  changedMessage,
  loggedPath,
  type LoggedPath,
  logMessages,
  noMessages,
  otherMessage,
} from "./logged-messages.ts";
import { fromChatMessages } from "./messages.ts";

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
): Either.Either<ImportProblem, readonly ExchangedConversation[]> => {
  const open = new Set<Open>();
  const logged = noMessages<Open>();
  const read = eachItem(exchanges, "exchanges", (value, index) => {
    const exchange = shaped(exchangeShape, value, index, "an exchange of a chat completion");
    if (Either.isLeft(exchange)) return exchange;
    const { request, response } = exchange.right;
    const message = response.choices?.[0]?.message;
    // A failed call left nothing in the conversation.
    if (message === undefined) return Either.right(null);
    const reply: JsonObject = { role: "assistant", ...message };
    const sent = request.messages;
    const texts = sent.map(textOf);
    const path = loggedPath(logged, texts);
    const changed = changedMessage(path, sent, texts);
    if (changed !== null) return problem(index, `item ${index}: ${changed}; log both as they went over the wire`);
    const remark = remarkOn(index, path, sent);
    const ends = path.findLast((each) => each.ends.length > 0)?.ends;
    const before = ends?.shift();
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
    logMessages(logged, { item: index, messages: [...sent, reply], texts: [...texts, textOf(reply)], conversation });
    return Either.right(null);
  });
  if (Either.isLeft(read)) return read;
  const conversations: ExchangedConversation[] = [];
  for (const { sent, reply, index, tools, at, remarks } of open) {
    // The log does not show the results of a last reply's calls, and no prompt depends on them.
    const isAsking = Array.isArray(reply["tool_calls"]) && reply["tool_calls"].length > 0;
    const imported = fromChatMessages(isAsking ? sent : [...sent, reply], options);
    if (Either.isLeft(imported))
      return problem(index, `item ${index}, a conversation of ${sent.length} messages: ${imported.left.reason}`);
    conversations.push({ ...imported.right, tools, at, remarks });
  }
  return Either.right(conversations);
};

/** A conversation as read so far: its newest request and reply. */
interface Open extends Pick<ExchangedConversation, "tools" | "at" | "remarks"> {
  readonly index: number;
  readonly sent: readonly JsonObject[];
  readonly reply: JsonObject;
}

/** Returns a remark on new replies. Replies that an earlier request has in the same place were remarked on there. */
const remarkOn = (index: number, path: LoggedPath<Open>, sent: readonly JsonObject[]): string | null => {
  const replies = sent.slice(path.length - 1).filter(({ role }) => role === "assistant").length;
  if (replies === 0) return null;
  const other = otherMessage(path, sent);
  return `item ${index}: its request has ${replies} ${replies === 1 ? "reply" : "replies"} that no earlier response gave${other === null ? "" : `; ${other}`}`;
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
    return [
      {
        name,
        ...(description === undefined ? {} : { description }),
        ...(parameters === undefined ? {} : { parameters }),
      },
    ];
  });

const object = z.custom<JsonObject>((value) => typeof value === "object" && value !== null && !Array.isArray(value));

const exchangeShape = z.object({
  request: z.object({ messages: z.array(object), tools: z.nullish(z.array(z.any())) }),
  response: z.object({
    created: z.optional(z.unknown()),
    choices: z.nullish(z.array(z.object({ message: object }))),
  }),
});

const toolShape = z.object({
  function: z.object({ name: z.string(), description: z.optional(z.string()), parameters: z.optional(object) }),
});
