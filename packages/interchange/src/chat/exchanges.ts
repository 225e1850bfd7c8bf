import type { Json, JsonObject, SeedDraft, ToolDeclaration } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import * as z from "zod/mini";
import type { Imported, ImportOptions } from "../exchange/import-conversation.ts";
import { eachItem, type ImportProblem, problem, shaped } from "../exchange/import-problem.ts";
import { excerpt } from "../exchange/json-object.ts";
import { fromChatMessage } from "./message.ts";
import { fromChatMessages } from "./messages.ts";

/** A conversation that was put together from logged requests. */
export interface ExchangedConversation extends Imported {
  /** The tools that its first request offered. */
  readonly tools: readonly ToolDeclaration[];
}

/**
 * Reads logged chat completions, each `{ request, response }` with the bodies that were sent and received, and puts them
 * together: a request continues the longest conversation whose messages and reply it begins with. A request that begins with
 * the messages of a conversation, and has the reply of none, is a problem that names both replies.
 */
export const fromChatExchanges = (
  exchanges: unknown,
  options: ImportOptions = {},
): Either.Either<ImportProblem, readonly ExchangedConversation[]> => {
  const open: Open[] = [];
  const read = eachItem(exchanges, "exchanges", (value, index) => {
    const exchange = shaped(exchangeShape, value, index, "an exchange of a chat completion");
    if (Either.isLeft(exchange)) return exchange;
    const { request, response } = exchange.right;
    const reply = response.choices?.[0]?.message;
    // A call that failed left nothing in the conversation.
    if (reply === undefined) return Either.right(null);
    const messages = request.messages;
    const before = continuedBy(messages, open);
    const at = before?.sent.length ?? 0;
    if (before !== undefined && !isRepliedIn(messages, before))
      return problem(
        index,
        `item ${index}: message ${at} of its request is ${excerpt(messages[at])}, and the reply in item ${before.index} was ${excerpt(before.reply)}; log both as they went over the wire`,
      );
    if (before !== undefined) open.splice(open.indexOf(before), 1);
    open.push({
      index,
      sent: messages,
      reply: { role: "assistant", ...reply },
      tools: before?.tools ?? toolsOf(request.tools),
    });
    return Either.right(null);
  });
  if (Either.isLeft(read)) return read;
  const conversations: ExchangedConversation[] = [];
  for (const { sent, reply, tools, index } of open) {
    // Nothing shows what became of the calls of a last reply, and no prompt depends on them.
    const isAsking = Array.isArray(reply["tool_calls"]) && reply["tool_calls"].length > 0;
    const imported = fromChatMessages(isAsking ? sent : [...sent, reply], options);
    if (Either.isLeft(imported))
      return problem(index, `item ${index}, a conversation of ${sent.length} messages: ${imported.left.reason}`);
    conversations.push({ ...imported.right, tools });
  }
  return Either.right(conversations);
};

/** A conversation as far as it was read: what its newest request sent, and what answered it. */
interface Open {
  readonly index: number;
  readonly sent: readonly JsonObject[];
  readonly reply: JsonObject;
  readonly tools: readonly ToolDeclaration[];
}

/** Returns the longest conversation that a request begins with; if it has the reply of none, one whose reply it has changed. */
const continuedBy = (messages: readonly JsonObject[], open: readonly Open[]): Open | undefined => {
  const begun = open
    .filter(({ sent }) => sent.length < messages.length && startsWith(messages, sent))
    .toSorted((left, right) => right.sent.length - left.sent.length);
  return begun.find((each) => isRepliedIn(messages, each)) ?? begun[0];
};

const isRepliedIn = (messages: readonly JsonObject[], { sent, reply }: Open): boolean =>
  textOf(reply) === textOf(messages[sent.length]);

const startsWith = (messages: readonly JsonObject[], sent: readonly JsonObject[]): boolean =>
  sent.every((message, index) => textOf(message) === textOf(messages[index]));

/**
 * Returns the same text for two messages that say the same: clients differ in the fields of providers that they send back,
 * and in how they write arguments.
 */
const textOf = (message: JsonObject | undefined): string => {
  const draft = fromChatMessage(message ?? {});
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
  response: z.object({ choices: z.nullish(z.array(z.object({ message: object }))) }),
});

const toolShape = z.object({
  function: z.object({ name: z.string(), description: z.optional(z.string()), parameters: z.optional(object) }),
});
