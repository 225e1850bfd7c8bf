import { at, toArray } from "./chunks.ts";
import type { Message } from "./message.ts";
import type { Thread } from "./thread.ts";
import type { Turn } from "./turn.ts";

/** The closed turn of a number, on the path or off it; undefined when there is none. */
export const turnOf = (thread: Thread, number: number): Turn | undefined => at(thread.turns, number - 1);

/** The closed turns on the path, newest first, read only as far as somebody looks. */
export function* turnsNewestFirst(thread: Thread): Generator<Turn, void, void> {
  for (let turn = turnOf(thread, thread.head); turn !== undefined; turn = turnOf(thread, turn.parent)) yield turn;
}

/** The closed turns on the path, oldest first. */
export const turnsOnPath = (thread: Thread): readonly Turn[] => [...turnsNewestFirst(thread)].reverse();

/** What was said on the path up to its newest closed turn, and what was appended since; oldest first, without the system message. */
export const messagesOnPath = (thread: Thread): readonly Message[] => [
  ...thread.seed,
  ...turnsOnPath(thread).flatMap((turn) => toArray(turn.messages)),
  ...thread.appended,
];
