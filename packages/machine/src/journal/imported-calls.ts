import type { ConversationData } from "../conversation/data.ts";
import { toArray } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import { turnOf } from "../thread/path.ts";
import type { Entry } from "../conversation/entry.ts";

/**
 * A model call that was made elsewhere: the message of an assistant in a turn that was added whole, or in the seed. What
 * the model was shown there is not recorded; what a configuration would have shown it here can be decided.
 */
export interface ImportedCall {
  readonly type: "imported";
  /** The one that brought it. */
  readonly entry: Pick<Entry, "seq">;
  /** 0 for the seed. */
  readonly turn: number;
  readonly step: number;
  /** What was said in the turn before; of a seed, from the last question on. */
  readonly messages: readonly Message[];
  /** How much of the seed stands before that; null where all of it does. */
  readonly seedLength: number | null;
}

/** The calls in a thread's seed. */
export const callsOfSeed = ({ seq, conversation: { seed } }: ConversationData): readonly ImportedCall[] =>
  repliesFrom(0, seed).map((reply, index) => {
    const question = seed.slice(0, reply).findLastIndex(({ role }) => role === "user");
    let from = Math.max(question, 0);
    while (seed[from - 1]?.role === "user") from--;
    const messages = seed.slice(from, reply);
    return { type: "imported", entry: { seq }, turn: 0, step: index + 1, messages, seedLength: from };
  });

/** The calls in the turn that an event added, if it added one. */
export const callsOfAddedTurn = (
  entry: Entry,
  before: ConversationData,
  after: ConversationData,
): readonly ImportedCall[] => {
  if (entry.event.type !== "turn.added") return [];
  const number = before.conversation.turns.length + 1;
  const turn = turnOf(after.conversation, number);
  if (turn === undefined) return [];
  const messages = toArray(turn.messages);
  return repliesFrom(before.conversation.appended.length, messages).map((reply, index) => ({
    type: "imported",
    entry,
    turn: number,
    step: index + 1,
    messages: messages.slice(0, reply),
    seedLength: null,
  }));
};

/** Where the messages are with which a model answered others. One that nothing stands before, or another of an assistant, was no answer. */
const repliesFrom = (first: number, messages: readonly Message[]): readonly number[] =>
  messages.flatMap(({ role }, index) => {
    const before = messages[index - 1];
    const isReply = index >= first && role === "assistant" && before !== undefined && before.role !== "assistant";
    return isReply ? [index] : [];
  });
