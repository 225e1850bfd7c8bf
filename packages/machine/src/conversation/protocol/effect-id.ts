import { callIdIn } from "../../thread/draft.ts";

// Ids are derived from thread, turn, step, position and attempt, so they are the same wherever the thread is
// run. The numbers come last: whatever a thread id contains, two different effects differ.

/** The id of a model call. */
export const llmId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}`;

/** The id of the model call that writes a summary. */
export const summaryId = (threadId: string, number: number): string => `${threadId}/summary-${number}#1`;

/** The id of the check whether the reply of a step is the output that was asked for. */
export const checkId = (threadId: string, turn: number, step: number): string => `${threadId}/${turn}.${step}!output`;

/** What the ids of the tool calls of a step begin with. */
export const stepId = (turn: number, step: number): string => `${turn}.${step}`;

/** The id of a tool call in its thread, known from the first piece of a reply on: messages, parts and effects have the same. */
export const callIdAt = (turn: number, step: number, position: number): string =>
  callIdIn(stepId(turn, step), position);

/** The id of the effect that runs a tool call. */
export const toolId = (threadId: string, callId: string, attempt: number): string => `${threadId}/${callId}#${attempt}`;

/** The id of the question whether a tool call may run, which may be asked more than once. */
export const approvalId = (threadId: string, callId: string, number: number): string =>
  `${threadId}/${callId}!approval-${number}`;

/** The id of the timer between two attempts of a model call. */
export const retryId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}!retry`;

/** The id of the timer that bounds the wait for a summary; `step` is that of the last call that was made. */
export const waitId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}!summary`;

/** The id of the timer that bounds a turn. */
export const deadlineId = (threadId: string, turn: number): string => `${threadId}/${turn}!deadline`;

/** The id of the timer that opens the next turn from the queue; `seq` is that of the entry that started it. */
export const queueId = (threadId: string, seq: number): string => `${threadId}/${seq}!queue`;

/**
 * Whether two ids are those of the same effect, thread aside: a journal that was copied under another thread id
 * folds to the same conversation. Code that takes answers from outside compares whole ids.
 */
export const isSameEffect = (left: string, right: string): boolean => placeIn(left) === placeIn(right);

/** The turn that an effect is of, by its id; null where it is of none, as a summary is and the wait for a queue. */
export const turnOfEffect = (effectId: string): number | null => {
  const number = /^(\d+)(?:\.|!deadline$)/u.exec(placeIn(effectId))?.[1];
  return number === undefined ? null : Number(number);
};

/** The id of an effect without its thread: its place in the conversation. */
export const placeIn = (effectId: string): string => effectId.slice(effectId.lastIndexOf("/") + 1);
