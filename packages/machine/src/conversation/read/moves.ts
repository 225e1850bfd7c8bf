import { isBefore, turnOf, turnsNewestFirst } from "../../thread/path.ts";
import type { Thread } from "../../thread/thread.ts";
import type { Turn } from "../../thread/turn.ts";
import { sealAppended } from "../update/edit.ts";
import type { State } from "../protocol/state.ts";

/** Where the head would move, and over which turns. */
export interface Move {
  /** The turn that would be the head; 0 for the beginning. */
  readonly head: number;
  /** The turns that would leave the path, or come back to it, newest first. Empty where there is nowhere to go. */
  readonly turns: readonly Turn[];
}

/**
 * Takes back the newest turns of the path, as many as there are at most. Messages that wait for the next turn are the newest
 * one: a move of the head makes them a turn, which is shown as it would be if the head moved now.
 */
export const undoTarget = (state: State, steps: number): Move => {
  const turns: Turn[] = [];
  for (const turn of turnsNewestFirst(sealed(state))) {
    if (turns.length >= steps) return { head: turn.number, turns };
    turns.push(turn);
  }
  return { head: 0, turns };
};

/**
 * Goes from the head towards the newest turn that continues from it, by as many turns as there are on that way at most.
 * After an undo that is the way back. Where several ways lead on it is that of the newest turn, whichever was undone last:
 * to choose, move the head. Nothing continues from messages that wait for the next turn.
 */
export const redoTarget = (state: State, steps: number): Move => {
  const conversation = sealed(state);
  const numbers = wayTo(conversation, newestBehind(conversation)).slice(0, Math.max(steps, 0));
  const turns = numbers.flatMap((number) => turnOf(conversation, number) ?? []).reverse();
  return { head: turns[0]?.number ?? conversation.head, turns };
};

/** The thread as a move of the head would find it. */
const sealed = ({ context: { conversation, updatedAt } }: State): Thread => sealAppended(conversation, updatedAt);

/** The newest turn that continues from the head; the head itself where none does. */
const newestBehind = (thread: Thread): number => {
  for (let number = thread.turns.length; number > thread.head;) {
    if (isBefore(thread, thread.head, number)) return number;
    // Those that lead straight to a turn that does not continue from the head do not either.
    number = (turnOf(thread, number)?.place.straightFrom ?? number) - 1;
  }
  return thread.head;
};

/** The turns from the head to another one behind it, oldest first. Whole runs at a time: a turn in between costs no look. */
const wayTo = (thread: Thread, last: number): readonly number[] => {
  const runs: (readonly number[])[] = [];
  for (let number = last; number > thread.head;) {
    const from = turnOf(thread, number)?.place.straightFrom ?? number;
    const first = Math.max(from, thread.head + 1);
    runs.unshift(Array.from({ length: number - first + 1 }, (_, index) => first + index));
    number = from > thread.head ? (turnOf(thread, from)?.parent ?? 0) : thread.head;
  }
  return runs.flat();
};
