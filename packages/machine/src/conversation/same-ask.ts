import { findNewest, toArray } from "../thread/chunks.ts";
import { messageFromDraft } from "../thread/draft.ts";
import type { Message } from "../thread/message.ts";
import { draftsOf } from "./ask-drafts.ts";
import type { ConversationData, QueuedAsk } from "./data.ts";
import { remembered } from "./data.ts";
import { messagesOfOpen } from "./read.ts";
import { redactedText } from "./redacted.ts";
import type { Refusal } from "./refusal.ts";
import type { State } from "./state.ts";

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
  const digests = digestsOf(other);
  const own = digestsOf(one);
  return own.length === digests.length && own.every((digest, index) => digest === digests[index]);
};

const saysTheSame = ({ open, queue, conversation }: ConversationData, ask: SaidAsk): boolean => {
  const isNamed = ({ askId }: { readonly askId: string }): boolean => askId === ask.askId;
  const waiting = queue.find(isNamed) ?? open?.joining.find(isNamed);
  if (waiting !== undefined) return isSameInput(waiting, ask);
  if (open?.asks.some(isNamed) === true) return isSaidIn(messagesOfOpen(open), ask);
  const turn = findNewest(conversation.turns, remembered, ({ asks }) => asks.some(isNamed));
  return turn === undefined || isSaidIn(toArray(turn.messages), ask);
};

/** What an ask says stands in its turn in one piece. */
const isSaidIn = (messages: readonly Message[], ask: SaidAsk): boolean => {
  const digests = digestsOf(ask);
  return (
    digests.length === 0 ||
    messages.some((_, from) => digests.every((digest, index) => messages[from + index]?.digest === digest)) ||
    messages.some(isRedacted)
  );
};

const isRedacted = ({ parts }: Message): boolean =>
  parts.some(
    (part) =>
      (part.type === "text" && part.text === redactedText) || (part.type === "data" && part.value === redactedText),
  );

const digestsOf = (ask: SaidAsk): readonly string[] => draftsOf(ask).map((draft) => messageFromDraft("", draft).digest);
