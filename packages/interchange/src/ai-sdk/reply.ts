import * as Either from "fp-ts/lib/Either.js";
import type { OpaquePart, ReplyDraft } from "@colloquy/machine";
import { foreignPart, foreignValue } from "../exchange/foreign.ts";
import { isJsonObject } from "../exchange/json-object.ts";
import { plainText, type ReplyPart } from "../exchange/reply-draft.ts";
import { plainJson } from "../exchange/plain-json.ts";
import { readModelMessages } from "./model-reading.ts";

export interface ModelReplyOptions {
  /**
   * What the answer was taken from (`result.sources`), which the AI SDK keeps beside its messages: kept behind what was said,
   * as UI messages have it. A UI message shows it, and no model is sent it.
   */
  readonly sources?: readonly unknown[];
}

/**
 * The reply that the messages of one step are (`result.response.messages`): what the model said, thought and called, with the
 * options of its providers; or in words why there is none. Nothing said is an empty reply. Results of tools are left out:
 * they are events of the thread that runs them. What a provider ran by itself stays in the reply.
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

/** A part that a provider makes for its own SDK and never takes back, such as `anthropic.message_start`. */
const isNotice = (part: ReplyPart): boolean => {
  const own = part.type === "opaque" ? foreignValue(part, "model") : undefined;
  const kind = own?.["type"] === "custom" ? own["kind"] : undefined;
  return typeof kind === "string" && kind.endsWith(".message_start");
};

/**
 * The messages without the parts that the SDK's provider for Anthropic makes for itself and sends to no model
 * (`anthropic.message_start`): what they say is in the outcome of the call.
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

/** A source of a model as a UI message has it; none where it can't be one. */
const sourcePart = (source: unknown): readonly OpaquePart[] => {
  const plain = plainJson(source);
  if (Either.isLeft(plain) || !isJsonObject(plain.right)) return [];
  const { type: _, sourceType, id, ...fields } = plain.right;
  if (typeof sourceType !== "string" || typeof id !== "string") return [];
  return [foreignPart("ui", { type: `source-${sourceType}`, sourceId: id, ...fields })];
};
