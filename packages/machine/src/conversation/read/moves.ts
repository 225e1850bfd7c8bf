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
 * Where an undo moves the head: over the `steps` newest turns of the path, or over all where it has fewer. Appended messages
 * that wait for the next turn count as the newest turn, since a move of the head makes them one.
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
 * Where a redo moves the head: by `steps` turns, or fewer where there are no more, towards the newest turn that descends from
 * the head. After an undo that is the way back. Where several branches descend from the head, the one with the newest turn
 * is taken, even if another was undone last; to take another, move the head. No turn descends from appended messages.
 */
export const redoTarget = (state: State, steps: number): Move => {
  const conversation = sealed(state);
  const numbers = wayTo(conversation, newestDescendant(conversation)).slice(0, Math.max(steps, 0));
  const turns = numbers.flatMap((number) => turnOf(conversation, number) ?? []).reverse();
  return { head: turns[0]?.number ?? conversation.head, turns };
};

/** The thread as a move of the head would find it. */
const sealed = ({ context: { conversation, updatedAt } }: State): Thread => sealAppended(conversation, updatedAt);

/** The newest turn that descends from the head; the head itself where none does. */
const newestDescendant = (thread: Thread): number => {
  for (let number = thread.turns.length; number > thread.head;) {
    if (isBefore(thread, thread.head, number)) return number;
    // If a turn does not descend from the head, no turn of its straight run does either.
    number = (turnOf(thread, number)?.place.straightFrom ?? number) - 1;
  }
  return thread.head;
};

/** The numbers of the turns after the head up to a descendant of it, oldest first. Straight runs are added whole, without a look at each turn. */
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
