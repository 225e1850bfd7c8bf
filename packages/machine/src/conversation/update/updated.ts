import { sizeOfAppended } from "../../thread/appended.ts";
import { isOnPath, sizeOf, turnOf } from "../../thread/path.ts";
import type { Thread } from "../../thread/thread.ts";
import type { ConversationData } from "../protocol/data.ts";
import { type Effect, publish } from "../protocol/effect.ts";

/** Publishes that the messages changed, with their new size. The cost does not depend on the length. */
export const updated = ({ conversation, usage }: ConversationData): Effect =>
  publish({ type: "thread.updated", ...sizeOfPath(conversation), usage: usage.total });

/** Returns the size of a thread's path: closed turns, the seed and messages that wait to lead the next turn. */
export const sizeOfPath = (
  thread: Thread,
): { readonly turns: number; readonly messages: number; readonly characters: number } => {
  const closed = turnOf(thread, thread.head)?.place ?? { turns: 0, ...sizeOf(thread.seed) };
  const waiting = sizeOfAppended(thread);
  const cut = thread.shortened.reduce(
    (sum, { turn, characters }) => (isOnPath(thread, turn) ? sum + characters : sum),
    0,
  );
  return {
    turns: closed.turns,
    messages: closed.messages + waiting.messages,
    characters: closed.characters + waiting.characters - cut,
  };
};
