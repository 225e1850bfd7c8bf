import { at, toArray } from "./chunks.ts";
import type { Message } from "./message.ts";
import { textOf } from "./message.ts";
import type { Thread } from "./thread.ts";
import type { Turn, TurnPlace } from "./turn.ts";

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

/** Whether a closed turn is on the path; 0, the beginning, always is. Costs a step for each branch, not for each turn. */
export const isOnPath = (thread: Thread, number: number): boolean => isBefore(thread, number, thread.head);

/** Whether a closed turn is another one, or on the path that leads to it. */
export const isBefore = (thread: Thread, number: number, last: number): boolean => {
  if (number === 0) return true;
  for (let turn = turnOf(thread, last); turn !== undefined && turn.number >= number;) {
    if (turn.place.straightFrom <= number) return true;
    turn = turnOf(thread, turnOf(thread, turn.place.straightFrom)?.parent ?? 0);
  }
  return false;
};

/** Where a turn stands that follows another one; 0 is the beginning. */
export const placeAfter = (thread: Thread, parent: number, number: number, messages: Iterable<Message>): TurnPlace => {
  const place = turnOf(thread, parent)?.place;
  const before = place ?? { turns: 0, ...sizeOf(thread.seed) };
  const added = sizeOf(messages);
  return {
    turns: before.turns + 1,
    messages: before.messages + added.messages,
    characters: before.characters + added.characters,
    straightFrom: place !== undefined && parent === number - 1 ? place.straightFrom : number,
  };
};

/** How many messages, and how many characters their texts have, in UTF-16 units. */
export const sizeOf = (messages: Iterable<Message>): { readonly messages: number; readonly characters: number } => {
  let count = 0;
  let characters = 0;
  for (const message of messages) {
    count++;
    characters += textOf(message).length;
  }
  return { messages: count, characters };
};
