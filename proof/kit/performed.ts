import { type AnswerableEffect, outstanding, type State } from "@colloquy/machine";

/** Something that was performed. */
export interface Performed {
  /** Of the effect; of a tool call it may be the idempotency key. */
  readonly id: string;
  /** The newest entry that its performer knew to be stored. */
  readonly seq: number;
}

/** Lists each effect that was performed before a stored entry asked for it, and each tool of `once` that ran before its start was journalled. */
export const performedProblems = (
  states: readonly State[],
  performed: readonly Performed[],
  once: readonly string[],
): readonly string[] =>
  performed.flatMap(({ id, seq }): readonly string[] => {
    const state = states[seq];
    const effect = (state === undefined ? [] : outstanding(state)).find((each) => each.id === id || keyOf(each) === id);
    if (effect === undefined)
      return [`${id} was performed when entry ${seq} was the newest, which does not ask for it`];
    return effect.type === "callTool" && once.includes(effect.name) && !effect.started
      ? [`${id} ran before its start was journalled`]
      : [];
  });

/** The idempotency key of a tool call. */
const keyOf = (effect: AnswerableEffect): string | null =>
  effect.type === "callTool" ? `${effect.threadId}/${effect.callId}#1` : null;
