import type { Message } from "../../thread/message.ts";
import { isBefore, messagesOnPath, type Thread, turnOf, turnsNewestFirst, turnsOnPath } from "../../thread/thread.ts";
import { toArray } from "../../thread/chunks.ts";
import type { Turn } from "../../thread/turn.ts";
import type { OpenTurn, State } from "../protocol/data.ts";
import { sealAppended } from "../update/edit.ts";

/**
 * Returns the messages on the path, oldest first, without the system message. These are the closed turns, the open one
 * with its round's results so far, and appended messages that wait.
 */
export const messagesOf = (state: State): readonly Message[] => {
  const { conversation, open } = state.context;
  const closed = messagesOnPath(conversation);
  return open === null ? closed : [...closed, ...messagesOfOpen(open)];
};

/** Returns the messages of the open turn: its own, its round's results so far, and those that wait. */
export const messagesOfOpen = ({ messages, stage, waiting }: OpenTurn): readonly Message[] => {
  const results = stage.type === "running" ? stage.calls.flatMap(({ result }) => result ?? []) : [];
  return [...toArray(messages), ...results, ...waiting];
};

/** Returns the closed turns on the path, oldest first. */
export const turnsOf = (state: State): readonly Turn[] => turnsOnPath(state.context.conversation);

/** Returns a closed turn by its number, on the path or off it. */
export const turnNumbered = (state: State, number: number): Turn | undefined =>
  turnOf(state.context.conversation, number);

/** Returns the closed turn at the head, or undefined at the beginning. */
export const lastTurnOf = (state: State): Turn | undefined => turnNumbered(state, state.context.conversation.head);

/** The target of a move of the head, and the turns that it affects. */
export interface Move {
  /** The new head; 0 for the beginning. */
  readonly head: number;
  /** The turns that would leave the path or return to it, newest first. Empty if no move is possible. */
  readonly turns: readonly Turn[];
}

/**
 * Returns where an undo moves the head: back over the `steps` newest turns of the path, or over all if there are
 * fewer. Appended messages that wait for the next turn count as the newest turn, since a move of the head makes them
 * one.
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
 * Returns where a redo moves the head: forward by up to `steps` turns, towards the newest turn that descends from the
 * head. After an undo this reverses it. If several branches descend from the head, the one with the newest turn is
 * taken, even if another was undone last; to take another, move the head. No turn descends from appended messages.
 */
export const redoTarget = (state: State, steps: number): Move => {
  const conversation = sealed(state);
  const numbers = wayTo(conversation, newestDescendant(conversation)).slice(0, Math.max(steps, 0));
  const turns = numbers.flatMap((number) => turnOf(conversation, number) ?? []).reverse();
  return { head: turns[0]?.number ?? conversation.head, turns };
};

/** Returns the thread as a move of the head would change it first. */
const sealed = ({ context: { conversation, updatedAt } }: State): Thread => sealAppended(conversation, updatedAt);

/** Returns the newest turn that descends from the head, or the head itself if there is none. */
const newestDescendant = (thread: Thread): number => {
  for (let number = thread.turns.length; number > thread.head;) {
    if (isBefore(thread, thread.head, number)) return number;
    // If a turn does not descend from the head, no turn of its straight run does either.
    number = (turnOf(thread, number)?.place.straightFrom ?? number) - 1;
  }
  return thread.head;
};

/** Returns the turns from the head to a descendant, oldest first. Straight runs are added without reading them. */
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
