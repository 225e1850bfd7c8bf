import type { ConversationData } from "../conversation/protocol/data.ts";
import { asksForAppendedRound } from "../conversation/update/edit.ts";
import { at, type Chunks, chunksOf, toArray } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import { isThreadEmpty, turnOf } from "../thread/path.ts";
import type { Entry } from "../conversation/protocol/entry.ts";

/**
 * A model call that was made elsewhere: the message of an assistant in a turn that was added whole, in a round that was appended, or in the seed. What
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

/**
 * The calls of rounds that were appended, each where it joined its turn: between turns at once, in an open turn at the next
 * gap. A model called those tools, whatever stands before; where nothing does, in the whole thread, nothing can have been
 * shown to it.
 */
export const callsOfRounds = (
  entry: Entry,
  before: ConversationData,
  after: ConversationData,
): readonly ImportedCall[] => {
  const { turns, appended } = before.conversation;
  if (entry.event.type === "round.appended" && before.open === null)
    return isThreadEmpty(before.conversation)
      ? []
      : callsFrom(entry, turns.length + 1, chunksOf(after.conversation.appended), appended.length);
  // What was appended before it leads a turn, and was found then.
  const known = before.open === null ? appended.length : before.open.messages.length;
  return grownTurns(before, after).flatMap(({ number, messages }) =>
    callsFrom(entry, number, messages, number === turns.length + 1 ? known : 0),
  );
};

/** Only what is new is looked at. */
const callsFrom = (entry: Entry, turn: number, messages: Chunks<Message>, first: number): readonly ImportedCall[] => {
  const calls: ImportedCall[] = [];
  for (let index = first; index < messages.length; index++) {
    const message = at(messages, index);
    if (message === undefined || !asksForAppendedRound(message)) continue;
    const said = toArray(messages).slice(0, index);
    const step = said.filter(({ role }) => role === "assistant").length + 1;
    calls.push({ type: "imported", entry, turn, step, messages: said, seedLength: null });
  }
  return calls;
};

/** The turns to which an entry may have added something: those that it closed, and the one that it leaves open. */
const grownTurns = (before: ConversationData, { open, conversation: { turns } }: ConversationData) => {
  const closed: { readonly number: number; readonly messages: Chunks<Message> }[] = [];
  for (let index = before.conversation.turns.length; index < turns.length; index++) {
    const turn = at(turns, index);
    if (turn !== undefined) closed.push(turn);
  }
  return open === null ? closed : [...closed, open];
};

/** Where the messages are with which a model answered others. One that nothing stands before, or another of an assistant, was no answer. */
const repliesFrom = (first: number, messages: readonly Message[]): readonly number[] =>
  messages.flatMap(({ role }, index) => {
    const before = messages[index - 1];
    const isReply = index >= first && role === "assistant" && before !== undefined && before.role !== "assistant";
    return isReply ? [index] : [];
  });
