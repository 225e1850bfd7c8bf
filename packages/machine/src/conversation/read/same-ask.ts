import { findNewest, toArray } from "../../thread/chunks.ts";
import { messageFromDraft } from "../../thread/draft.ts";
import type { Message } from "../../thread/message.ts";
import type { Ask, Turn } from "../../thread/turn.ts";
import { draftsOf } from "../update/ask-drafts.ts";
import { type ConversationData, type OpenTurn, type QueuedAsk, remembered } from "../protocol/data.ts";
import { redactedText } from "../update/redacted.ts";
import type { Refusal } from "../protocol/refusal.ts";
import type { State } from "../protocol/state.ts";

/** What an ask says, and under which id. */
export type SaidAsk = Pick<QueuedAsk, "askId" | "input" | "name" | "metadata">;

/**
 * Why a repeated ask is refused: one of its id was made before, and said something else. Null where it says the same; where
 * there was none; and where that can't be known any more, because no turn answers the first, or its words were taken out.
 */
export const refusalOfRepeat = ({ context }: Pick<State, "context">, ask: SaidAsk): Refusal | null =>
  saysTheSame(context, ask) ? null : askedOtherwise(ask.askId);

/** The refusal of an ask under the id of another that says something else. */
export const askedOtherwise = (askId: string): Refusal => ({
  kind: "invalid",
  reason: `ask "${askId}" was made before, and its input differs from this one: an askId gives the outcome of what was asked first; ask this under another askId`,
});

/** Whether two asks say the same: their messages as a model sees them, metadata aside. */
export const isSameInput = (one: SaidAsk, other: SaidAsk): boolean => {
  // As of each ask that stands in the journal as it was made.
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
 * Whether an ask brought just these messages to the turn that answers it. They stand there in one piece, in the order of the
 * asks, and as many as were counted. What was appended around them looks like them; what a model said does not.
 */
const isSaidIn = (turn: Pick<Turn | OpenTurn, "asks" | "messages" | "answer">, ask: SaidAsk): boolean => {
  const digests = digestsOf(ask);
  const named = turn.asks.findIndex(({ askId }) => askId === ask.askId);
  const counted = turn.asks[named]?.messages;
  // A state that 0.1 stored counted none of them.
  if (counted === undefined ? digests.length === 0 : digests.length !== counted) return false;
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

/** Whether a message is surely none that an ask brought. */
const isModels = ({ id, role, incomplete, parts }: Message, { answer }: Pick<Turn | OpenTurn, "answer">): boolean =>
  id === answer || role === "tool" || incomplete === true || parts.some(({ type }) => type === "toolCall");

const isRedacted = ({ parts }: Message): boolean =>
  parts.some(
    (part) =>
      (part.type === "text" && part.text === redactedText) || (part.type === "data" && part.value === redactedText),
  );

const digestsOf = (ask: SaidAsk): readonly string[] => draftsOf(ask).map((draft) => messageFromDraft("", draft).digest);
