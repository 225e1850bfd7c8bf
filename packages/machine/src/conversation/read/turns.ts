import type { Message } from "../../thread/message.ts";
import { messagesOnPath, turnOf, turnsOnPath } from "../../thread/thread.ts";
import { toArray } from "../../thread/chunks.ts";
import type { Turn } from "../../thread/turn.ts";
import type { OpenTurn } from "../protocol/data.ts";
import type { State } from "../protocol/state.ts";

/**
 * Returns the messages on the path, oldest first, without the system message. These are the closed turns, the open one
 * with its round's results so far, and appended messages that wait.
 */
export const messagesOf = (state: State): readonly Message[] => {
  const { conversation, open } = state.context;
  const closed = messagesOnPath(conversation);
  return open === null ? closed : [...closed, ...messagesOfOpen(open)];
};

/**
 * Returns the messages of the open turn: its own, its round's results so far, and those that wait for outstanding
 * effects.
 */
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
