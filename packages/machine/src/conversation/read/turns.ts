import { toArray } from "../../thread/chunks.ts";
import type { Message } from "../../thread/message.ts";
import { messagesOnPath, turnOf, turnsOnPath } from "../../thread/path.ts";
import type { Turn } from "../../thread/turn.ts";
import type { OpenTurn } from "../protocol/data.ts";
import type { State } from "../protocol/state.ts";

/**
 * What was said on the path, oldest first, without the system message: the closed turns, the open one with the
 * results that its round has so far, and what was appended and waits.
 */
export const messagesOf = (state: State): readonly Message[] => {
  const { conversation, open } = state.context;
  const closed = messagesOnPath(conversation);
  return open === null ? closed : [...closed, ...messagesOfOpen(open)];
};

/** What was said in the open turn: its messages, the results that its round has so far, and what waits for the next gap. */
export const messagesOfOpen = ({ messages, stage, waiting }: OpenTurn): readonly Message[] => {
  const results = stage.type === "running" ? stage.calls.flatMap(({ result }) => result ?? []) : [];
  return [...toArray(messages), ...results, ...waiting];
};

/** The closed turns on the path, oldest first. */
export const turnsOf = (state: State): readonly Turn[] => turnsOnPath(state.context.conversation);

/** A closed turn by its number, on the path or off it. */
export const turnNumbered = (state: State, number: number): Turn | undefined =>
  turnOf(state.context.conversation, number);

/** The closed turn at the head, or undefined at the beginning. */
export const lastTurnOf = (state: State): Turn | undefined => turnNumbered(state, state.context.conversation.head);
