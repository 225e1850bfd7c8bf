import * as Either from "fp-ts/lib/Either.js";
import type { JsonObject } from "./plain-data.ts";
import { messageFromDraft, messageFromReply, messageFromResult, wellFormed } from "./make-message.ts";
import {
  type Content,
  type Message,
  type MessageDraft,
  type ReplyDraft,
  type ToolCallPart,
  toolCallsOf,
} from "./message.ts";

/**
 * A message of an earlier conversation. Calls are written as in a model's reply, results as messages of the role
 * `tool`.
 */
export type SeedDraft = MessageDraft | SeedReply | SeedResult;

export type SeedReply = { readonly role: "assistant"; readonly metadata?: JsonObject } & ReplyDraft;

export interface SeedResult {
  readonly role: "tool";
  /** The provider's id of the call that it answers, among those of the assistant message before it. */
  readonly toolCallId: string | null;
  readonly content: Content;
}

/**
 * Creates messages from drafts, with ids `turn.firstId` and so on. Returns an error text if they are not a
 * conversation: each assistant message with calls must be followed at once by one result for each call. Results may
 * have any order; they are sorted in call order.
 */
export const messagesFromSeed = (
  turn: number,
  drafts: readonly SeedDraft[],
  firstId = 0,
): Either.Either<string, readonly Message[]> => {
  const messages: Message[] = [];
  let round = new Round([]);
  for (const [index, draft] of drafts.entries()) {
    const id = `${turn}.${firstId + index}`;
    if (draft.role === "tool") {
      if (!round.answer(draft)) return Either.left(orphan(index, draft.toolCallId));
      if (round.isAnswered) for (const result of round.results()) messages.push(result);
      continue;
    }
    if (!round.isAnswered) return Either.left(unansweredBefore(index, round.unanswered()));
    const message = draft.role === "assistant" ? messageFromReply(id, id, draft) : messageFromDraft(id, draft);
    messages.push(message);
    round = new Round(toolCallsOf(message));
  }
  return round.isAnswered ? Either.right(messages) : Either.left(unansweredBefore(drafts.length, round.unanswered()));
};

/** The calls of one message and their results. Each operation costs the same, however many calls there are. */
class Round {
  readonly #calls: readonly ToolCallPart[];
  /** The waiting calls by the provider's id, which several may share; the last one first. */
  readonly #waiting = new Map<string | null, ToolCallPart[]>();
  readonly #results = new Map<ToolCallPart, Message>();

  constructor(calls: readonly ToolCallPart[]) {
    this.#calls = calls;
    for (const call of calls.toReversed()) {
      const waiting = this.#waiting.get(call.providerCallId);
      if (waiting === undefined) this.#waiting.set(call.providerCallId, [call]);
      else waiting.push(call);
    }
  }

  get isAnswered(): boolean {
    return this.#results.size === this.#calls.length;
  }

  /** Returns false for a result that no call waits for. */
  answer({ toolCallId, content }: SeedResult): boolean {
    const call = this.#waiting.get(wellFormed(toolCallId))?.pop();
    if (call === undefined) return false;
    this.#results.set(call, messageFromResult(call, "completed", content));
    return true;
  }

  /** Returns the results in call order. */
  results(): readonly Message[] {
    return this.#calls.flatMap((call) => this.#results.get(call) ?? []);
  }

  unanswered(): readonly ToolCallPart[] {
    return this.#calls.filter((call) => !this.#results.has(call));
  }
}

const orphan = (index: number, toolCallId: string | null): string =>
  `message ${index} is the result of call ${JSON.stringify(toolCallId)}, which no assistant message just before it asked for`;

const unansweredBefore = (index: number, calls: readonly ToolCallPart[]): string =>
  `no result for call ${calls.map((call) => JSON.stringify(call.providerCallId ?? call.name)).join(", ")} before message ${index}; give one for each call, directly after the message that asked`;
