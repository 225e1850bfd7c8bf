import * as Either from "fp-ts/lib/Either.js";
import type { OpaquePart, ReplyDraft } from "@colloquy/machine";
import { foreignPart } from "../exchange/foreign.ts";
import { caught } from "../exchange/import-problem.ts";
import { isJsonObject, plainJson } from "../exchange/json.ts";
import { plainText } from "../exchange/reading.ts";
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
  const read = caught(() => readModelMessages(withoutNotices(messages)));
  if (Either.isLeft(read)) return Either.left(read.left.reason);
  const replies = read.right.pieces.flatMap(({ draft }) => (draft.role === "assistant" ? [draft] : []));
  const [reply, second] = replies;
  if (second !== undefined)
    return Either.left(`${replies.length} messages of a model: a reply is one; import several by fromModelMessages`);
  const { role: _role, metadata: _metadata, content, ...draft } = reply ?? { role: "assistant" };
  const said = typeof content === "string" ? [{ type: "text" as const, text: content }] : (content ?? []);
  const kept = [...said, ...sources.flatMap(sourcePart)];
  return Either.right(kept.length === 0 ? draft : { ...draft, content: plainText(kept) ?? kept });
};

/**
 * Removes the parts that the SDK's providers make for themselves and send to no model (`anthropic.message_start`). The
 * outcome of the call holds the same information.
 */
const withoutNotices = (messages: unknown): unknown =>
  !Array.isArray(messages)
    ? messages
    : messages.map((message: unknown) => {
        if (typeof message !== "object" || message === null || !("content" in message)) return message;
        const { content } = message;
        if (!Array.isArray(content)) return message;
        return { ...message, content: content.filter((part: unknown) => !isNotice(part)) };
      });

const isNotice = (part: unknown): boolean =>
  typeof part === "object" && part !== null && "kind" in part && String(part.kind).endsWith(".message_start");

/** Converts a model's source to a UI message's part; none if it is invalid. */
const sourcePart = (source: unknown): readonly OpaquePart[] => {
  const plain = plainJson(source);
  if (Either.isLeft(plain) || !isJsonObject(plain.right)) return [];
  const { type: _, sourceType, id, ...fields } = plain.right;
  if (typeof sourceType !== "string" || typeof id !== "string") return [];
  return [foreignPart("ui", { type: `source-${sourceType}`, sourceId: id, ...fields })];
};
