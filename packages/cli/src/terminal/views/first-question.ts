import {
  contentText,
  lastTurnOf,
  type Message,
  messagesOf,
  type State,
  toArray,
  turnNumbered,
} from "@colloquy/machine";

/**
 * Returns the first question on the path of a thread, also in its seed, or "". Reads only the seed and the first turn,
 * if the question is there, and no turn was undone: then another may be first.
 */
export const firstQuestionIn = (state: State): string => {
  const { seed, turns } = state.context.conversation;
  const first = turnNumbered(state, 1);
  const isStraight = first !== undefined && lastTurnOf(state)?.place.turns === turns.length;
  const early = isStraight ? [...seed, ...toArray(first.messages)] : [];
  const isAsked = ({ role }: Message): boolean => role === "user";
  const asked = early.find(isAsked) ?? messagesOf(state).find(isAsked);
  return asked === undefined ? "" : contentText(asked.parts);
};
