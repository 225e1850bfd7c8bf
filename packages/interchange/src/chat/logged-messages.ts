import type { JsonObject } from "@colloquy/machine";
import { excerpt } from "../exchange/json-object.ts";

/**
 * A message that was logged after the messages on the path to it. Conversations that differ from there on are
 * branches.
 */
export interface LoggedMessage<Conversation> {
  /** The following messages, by their texts. */
  readonly next: Map<string, LoggedMessage<Conversation>>;
  /** The item that logged it first, with the message. Null before the first message. */
  readonly first: { readonly item: number; readonly message: JsonObject } | null;
  /** Conversations whose newest reply it is, oldest first. */
  readonly ends: Conversation[];
  /** True if a response gave it. */
  isReply: boolean;
}

/** Returns the root: the place before the first message of all conversations. */
export const noMessages = <Conversation>(first: LoggedMessage<Conversation>["first"] = null) => {
  const node: LoggedMessage<Conversation> = { next: new Map(), first, ends: [], isReply: false };
  return node;
};

/** The path of the logged messages with which a request begins. */
export type LoggedPath<Conversation> = readonly LoggedMessage<Conversation>[];

/** Returns the path of messages that were logged already. It begins with `root`. */
export const loggedPath = <Conversation>(
  root: LoggedMessage<Conversation>,
  texts: readonly string[],
): LoggedPath<Conversation> => {
  const path = [root];
  for (const text of texts) {
    const next = path.at(-1)?.next.get(text);
    if (next === undefined) break;
    path.push(next);
  }
  return path;
};

/** Logs the messages of a request and its reply. */
export const logMessages = <Conversation>(
  root: LoggedMessage<Conversation>,
  { item, messages, texts, conversation }: LoggedExchange<Conversation>,
): void => {
  let node = root;
  for (const [index, message] of messages.entries()) {
    const text = texts[index] ?? "";
    const next = node.next.get(text) ?? noMessages<Conversation>({ item, message });
    node.next.set(text, next);
    node = next;
  }
  node.isReply = true;
  node.ends.push(conversation);
};

interface LoggedExchange<Conversation> {
  readonly item: number;
  /** The messages of a request, and its reply. */
  readonly messages: readonly JsonObject[];
  readonly texts: readonly string[];
  readonly conversation: Conversation;
}

/**
 * Describes the first message that differs from the log, if a logged conversation with another message there otherwise
 * repeats up to a reply. Returns null if there is none.
 */
export const changedMessage = <Conversation>(
  path: LoggedPath<Conversation>,
  messages: readonly JsonObject[],
  texts: readonly string[],
): string | null => {
  const at = path.length - 1;
  if (at >= messages.length) return null;
  let found: { readonly other: LoggedMessage<Conversation>; readonly replyAt: number } | null = null;
  for (const other of path.at(-1)?.next.values() ?? []) {
    const replyAt = at + loggedPath(other, texts.slice(at + 1)).findLastIndex(({ isReply }) => isReply);
    if (replyAt >= Math.max(at, 1) && replyAt > (found?.replyAt ?? -1)) found = { other, replyAt };
  }
  return found === null ? null : describeDifference(at, messages, found.other);
};

/**
 * Describes the first message that differs from the log, if others were logged in its place. Returns null otherwise.
 */
export const otherMessage = <Conversation>(
  path: LoggedPath<Conversation>,
  messages: readonly JsonObject[],
): string | null => {
  const other = [...(path.at(-1)?.next.values() ?? [])].at(-1);
  return path.length === 1 || other === undefined ? null : describeDifference(path.length - 1, messages, other);
};

const describeDifference = <Conversation>(
  at: number,
  messages: readonly JsonObject[],
  { first, isReply }: LoggedMessage<Conversation>,
): string =>
  `message ${at} of its request is ${excerpt(messages[at])}, and ${isReply ? "the reply in item" : "in item"} ${first?.item} ${isReply ? "was" : "it was"} ${excerpt(first?.message)}`;
