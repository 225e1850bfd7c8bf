import * as Either from "fp-ts/lib/Either.js";
import { messageFromDraft, messageFromReply, messageFromResult } from "./draft.ts";
import type { Content, Message, MessageDraft, ReplyDraft, ToolCallPart } from "./message.ts";
import { toolCallsOf } from "./message.ts";

/** A message of an earlier conversation. Calls and their results are given as a model and a host would. */
export type SeedDraft = MessageDraft | SeedReply | SeedResult;

export type SeedReply = { readonly role: "assistant" } & ReplyDraft;

export interface SeedResult {
  readonly role: "tool";
  /** The provider's id of the call that it answers, among those of the assistant message before it. */
  readonly toolCallId: string | null;
  readonly content: Content;
}

/**
 * The messages that drafts describe, with ids `turn.firstId` and so on; or in words why they are no conversation:
 * each assistant message with calls must be followed at once by one result for each call. Results may come
 * in any order; they are put in call order.
 */
export const messagesFromSeed = (
  turn: number,
  drafts: readonly SeedDraft[],
  firstId = 0,
): Either.Either<string, readonly Message[]> => {
  const messages: Message[] = [];
  let unanswered: ToolCallPart[] = [];
  let results: Message[] = [];
  let calls: readonly ToolCallPart[] = [];
  for (const [index, draft] of drafts.entries()) {
    const id = `${turn}.${firstId + index}`;
    if (draft.role === "tool") {
      const call = unanswered.find((candidate) => candidate.providerCallId === draft.toolCallId);
      if (call === undefined) return Either.left(orphan(index, draft.toolCallId));
      unanswered = unanswered.filter((candidate) => candidate !== call);
      results.push(messageFromResult(call, "completed", draft.content));
      if (unanswered.length === 0) messages.push(...inCallOrder(results, calls));
      continue;
    }
    if (unanswered.length > 0) return Either.left(unansweredBefore(index, unanswered));
    const message = draft.role === "assistant" ? messageFromReply(id, id, draft) : messageFromDraft(id, draft);
    messages.push(message);
    calls = toolCallsOf(message);
    unanswered = [...calls];
    results = [];
  }
  return unanswered.length > 0 ? Either.left(unansweredBefore(drafts.length, unanswered)) : Either.right(messages);
};

const inCallOrder = (results: readonly Message[], calls: readonly ToolCallPart[]): readonly Message[] =>
  calls.flatMap((call) =>
    results.filter((message) =>
      message.parts.some((part) => part.type === "toolResult" && part.callId === call.callId),
    ),
  );

const orphan = (index: number, toolCallId: string | null): string =>
  `message ${index} is the result of call ${JSON.stringify(toolCallId)}, which no assistant message just before it asked for`;

const unansweredBefore = (index: number, calls: readonly ToolCallPart[]): string =>
  `no result for call ${calls.map((call) => JSON.stringify(call.providerCallId ?? call.name)).join(", ")} before message ${index}; give one for each call, directly after the message that asked`;
