import type { ConversationData } from "../conversation/protocol/data.ts";
import { callsOf } from "../conversation/update/round-calls.ts";
import { at, type Chunks } from "../thread/chunks.ts";
import type { Message } from "../thread/message.ts";
import type { Ask } from "../thread/turn.ts";

/** The turn to which an entry added messages. */
export interface GrownTurn {
  readonly number: number;
  readonly asks: readonly Ask[];
  readonly messages: Chunks<Message>;
}

/** Returns the turn that an entry left open or closed; null if it did neither. */
export const grownTurn = (before: ConversationData, after: ConversationData): GrownTurn | null => {
  const { turns } = after.conversation;
  if (after.open !== null) return after.open;
  return turns.length === before.conversation.turns.length ? null : (at(turns, turns.length - 1) ?? null);
};

/**
 * Returns the messages that may have come with an entry: those of a turn, in order, and those that are in no turn yet.
 * Some may be older.
 */
export const messagesAround = (
  before: ConversationData,
  after: ConversationData,
): { readonly inTurn: readonly Message[]; readonly elsewhere: readonly Message[] } => {
  const turn = grownTurn(before, after);
  const { system, appended } = after.conversation;
  const { open } = after;
  const results = callsOf(after).flatMap(({ result }) => result ?? []);
  return {
    inTurn:
      turn === null ? [] : from(turn.messages, before.open?.number === turn.number ? before.open.messages.length : 0),
    elsewhere: [...(system === null ? [] : [system]), ...appended, ...(open?.waiting ?? []), ...results],
  };
};

const from = (messages: Chunks<Message>, first: number): readonly Message[] => {
  const found: Message[] = [];
  for (let index = first; index < messages.length; index++) {
    const message = at(messages, index);
    if (message !== undefined) found.push(message);
  }
  return found;
};
