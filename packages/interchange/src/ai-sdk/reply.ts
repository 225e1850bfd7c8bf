import * as Either from "fp-ts/lib/Either.js";
import type { OpaquePart, ReplyDraft } from "@colloquy/machine";
import { foreignPart, foreignValue } from "../exchange/foreign.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { plainText, type ReplyPart } from "../exchange/reply-draft.ts";
import { plainJson } from "../exchange/plain-json.ts";
import { readModelMessages } from "./model-reading.ts";

export interface ModelReplyOptions {
  /**
   * The sources of the answer (`result.sources`), which the AI SDK keeps beside its messages. They are kept after the
   * content, in the form of UI messages. A UI message shows them, and no model receives them.
   */
  readonly sources?: readonly unknown[];
}

/**
 * Reads the reply in the messages of one step (`result.response.messages`): the model's content, reasoning and calls,
 * with its providers' options. Returns an error text if they are invalid. No content is an empty reply. Tool results
 * are left out, since they are events of the thread that runs the tools. Calls that a provider ran itself stay in the
 * reply.
 */
export const replyFromModelMessages = (
  messages: unknown,
  { sources = [] }: ModelReplyOptions = {},
): Either.Either<string, ReplyDraft> => {
  const read = readModelMessages(withoutMarks(messages));
  if (Either.isLeft(read)) return Either.left(read.left.reason);
  const replies = read.right.pieces.flatMap(({ draft }) => (draft.role === "assistant" ? [draft] : []));
  const [reply, second] = replies;
  if (second !== undefined)
    return Either.left(`${replies.length} messages of a model: a reply is one; import several by fromModelMessages`);
  const { role: _role, metadata: _metadata, content, ...draft } = reply ?? { role: "assistant" };
  const parts = sources.flatMap(sourcePart);
  const said = typeof content === "string" ? [{ type: "text" as const, text: content }] : (content ?? []);
  const kept = [...said.filter((part) => !isNotice(part)), ...parts];
  if (kept.length === 0) return Either.right(draft);
  return Either.right({ ...draft, content: plainText(kept) ?? kept });
};

/**
 * Returns whether a provider made a part only for its own SDK and never takes it back, such as
 * `anthropic.message_start`.
 */
const isNotice = (part: ReplyPart): boolean => {
  const own = part.type === "opaque" ? foreignValue(part, "model") : undefined;
  const kind = own?.["type"] === "custom" ? own["kind"] : undefined;
  return typeof kind === "string" && kind.endsWith(".message_start");
};

/**
 * Removes the parts that the SDK's provider for Anthropic makes for itself and sends to no model
 * (`anthropic.message_start`). The outcome of the call holds the same information.
 */
const withoutMarks = (messages: unknown): unknown =>
  Array.isArray(messages) ? messages.map((message: unknown) => withoutMarksIn(message)) : messages;

const withoutMarksIn = (message: unknown): unknown => {
  if (typeof message !== "object" || message === null || !("content" in message)) return message;
  const { content } = message;
  return Array.isArray(content) ? { ...message, content: content.filter((part: unknown) => !isMark(part)) } : message;
};

const isMark = (part: unknown): boolean =>
  typeof part === "object" && part !== null && "kind" in part && part.kind === "anthropic.message_start";

/** Converts a model's source to a UI message's part; none if it is invalid. */
const sourcePart = (source: unknown): readonly OpaquePart[] => {
  const plain = plainJson(source);
  if (Either.isLeft(plain) || !isJsonObject(plain.right)) return [];
  const { type: _, sourceType, id, ...fields } = plain.right;
  if (typeof sourceType !== "string" || typeof id !== "string") return [];
  return [foreignPart("ui", { type: `source-${sourceType}`, sourceId: id, ...fields })];
};
