import { findNewest, toArray } from "../../thread/chunks.ts";
import { messageFromDraft } from "../../thread/make-message.ts";
import type { Message } from "../../thread/message.ts";
import type { Ask, Turn } from "../../thread/turn.ts";
import { draftsOf } from "../update/turn-opening.ts";
import { type ConversationData, type OpenTurn, type QueuedAsk, remembered, type State } from "../protocol/data.ts";
import { redactedText } from "../protocol/form.ts";
import type { Refusal } from "../protocol/refusal.ts";

/** The content and the id of an ask. */
export type SaidAsk = Pick<QueuedAsk, "askId" | "input" | "name" | "metadata">;

/**
 * Refuses a repeated ask if the first ask of its id had other content. Returns null if the content is equal or the id
 * is new. Also returns null if the first content is unknown, because no turn answers that ask or it was redacted.
 */
export const refusalOfRepeat = ({ context }: Pick<State, "context">, ask: SaidAsk): Refusal | null =>
  saysTheSame(context, ask) ? null : askedOtherwise(ask.askId);

/** Returns the refusal of an ask whose id was used for other content. */
export const askedOtherwise = (askId: string): Refusal => ({
  kind: "invalid",
  reason: `ask "${askId}" was made before, and its input differs from this one: an askId gives the outcome of what was asked first; ask this under another askId`,
});

/** Returns whether two asks have the same content: their messages as a model sees them, without metadata. */
export const isSameInput = (one: SaidAsk, other: SaidAsk): boolean => {
  // The common case: an ask stored in the journal exactly as it was made.
  if (one.name === other.name && typeof one.input === "string" && one.input === other.input) return true;
  const digests = digestsOf(other);
  const own = digestsOf(one);
  return own.length === digests.length && own.every((digest, index) => digest === digests[index]);
};

const saysTheSame = ({ open, queue, conversation }: ConversationData, ask: SaidAsk): boolean => {
  const isNamed = ({ askId }: { readonly askId: string }): boolean => askId === ask.askId;
  const waiting = queue.find(isNamed) ?? open?.joining.find(isNamed);
  if (waiting !== undefined) return isSameInput(waiting, ask);
  if (open?.asks.some(isNamed) === true) return isSaidIn(open, ask);
  const turn = findNewest(conversation.turns, remembered, ({ asks }) => asks.some(isNamed));
  return turn === undefined || isSaidIn(turn, ask);
};

/**
 * Returns whether an ask brought exactly these messages to the turn that answers it. They are contiguous, in the order
 * of the asks, and their number was recorded. Appended messages around them look the same; messages of the model do
 * not.
 */
const isSaidIn = (turn: Pick<Turn | OpenTurn, "asks" | "messages" | "answer">, ask: SaidAsk): boolean => {
  const digests = digestsOf(ask);
  const named = turn.asks.findIndex(({ askId }) => askId === ask.askId);
  if (digests.length !== (turn.asks[named]?.messages ?? 1)) return false;
  const messages = toArray(turn.messages);
  const from = broughtBy(turn.asks.slice(0, named));
  const to = messages.findLastIndex((message) => !isModels(message, turn)) + 1 - broughtBy(turn.asks.slice(named + 1));
  const isHere = (first: number): boolean =>
    digests.every((digest, index) => {
      const message = messages[first + index];
      return message !== undefined && !isModels(message, turn) && (message.digest === digest || isRedacted(message));
    });
  return (
    digests.length === 0 || messages.some((_, index) => index >= from && index + digests.length <= to && isHere(index))
  );
};

const broughtBy = (asks: readonly Ask[]): number => asks.reduce((total, { messages = 1 }) => total + messages, 0);

/** Returns whether a message cannot have been brought by an ask. */
const isModels = ({ id, role, incomplete, parts }: Message, { answer }: Pick<Turn | OpenTurn, "answer">): boolean =>
  id === answer || role === "tool" || incomplete === true || parts.some(({ type }) => type === "toolCall");

const isRedacted = ({ parts }: Message): boolean =>
  parts.some(
    (part) =>
      (part.type === "text" && part.text === redactedText) || (part.type === "data" && part.value === redactedText),
  );

const digestsOf = (ask: SaidAsk): readonly string[] => draftsOf(ask).map((draft) => messageFromDraft("", draft).digest);
