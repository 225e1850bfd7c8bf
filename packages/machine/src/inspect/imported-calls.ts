import type { ConversationData } from "../conversation/protocol/data.ts";
import { asksForAppendedRound } from "../conversation/update/edit.ts";
import type { Message } from "../thread/message.ts";
import { isThreadEmpty, turnOf } from "../thread/thread.ts";
import { at, type Chunks, chunksOf, toArray } from "../thread/chunks.ts";
import type { Entry } from "../conversation/protocol/entry.ts";

/**
 * A model call that was made elsewhere: the assistant message of a turn that was added whole, of an appended round, or
 * of the seed. Its real prompt is not recorded. This library can decide which prompt a configuration would have shown
 * here.
 */
export interface ImportedCall {
  readonly type: "imported";
  /** The entry that brought it. */
  readonly entry: Pick<Entry, "seq">;
  /** 0 for the seed. */
  readonly turn: number;
  readonly step: number;
  /** The messages before it in its turn; for a seed, from the last question on. */
  readonly messages: readonly Message[];
  /** The length of the seed before those messages; null if the whole seed precedes them. */
  readonly seedLength: number | null;
}

/** Returns the calls in a thread's seed. */
export const callsOfSeed = ({ seq, conversation: { seed } }: ConversationData): readonly ImportedCall[] =>
  repliesFrom(0, seed).map((reply, index) => {
    const question = seed.slice(0, reply).findLastIndex(({ role }) => role === "user");
    let from = Math.max(question, 0);
    while (seed[from - 1]?.role === "user") from--;
    const messages = seed.slice(from, reply);
    return { type: "imported", entry: { seq }, turn: 0, step: index + 1, messages, seedLength: from };
  });

/** Returns the calls in the turn that an event added, if it added one. */
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
 * Returns the calls of appended rounds, each at the place where it joined its turn. Between turns that is at once, and
 * in an open turn after its outstanding effects. Such a round always counts as a call, whatever message precedes it.
 * If the thread was empty before it, there was no prompt and so no call.
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
  // Earlier appended messages lead a turn, and were found before.
  const known = before.open === null ? appended.length : before.open.messages.length;
  return grownTurns(before, after).flatMap(({ number, messages }) =>
    callsFrom(entry, number, messages, number === turns.length + 1 ? known : 0),
  );
};

/** Reads only new messages. */
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

/** Returns the turns to which an entry may have added messages: those that it closed, and the open one. */
const grownTurns = (before: ConversationData, { open, conversation: { turns } }: ConversationData) => {
  const closed: { readonly number: number; readonly messages: Chunks<Message> }[] = [];
  for (let index = before.conversation.turns.length; index < turns.length; index++) {
    const turn = at(turns, index);
    if (turn !== undefined) closed.push(turn);
  }
  return open === null ? closed : [...closed, open];
};

/**
 * Returns the indices of messages with which a model answered others. A message is not an answer if nothing or another
 * assistant message precedes it.
 */
const repliesFrom = (first: number, messages: readonly Message[]): readonly number[] =>
  messages.flatMap(({ role }, index) => {
    const before = messages[index - 1];
    const isReply = index >= first && role === "assistant" && before !== undefined && before.role !== "assistant";
    return isReply ? [index] : [];
  });
