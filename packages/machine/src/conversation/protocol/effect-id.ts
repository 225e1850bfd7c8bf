import { callIdIn } from "../../thread/draft.ts";

// Ids are derived from thread, turn, step, position and attempt, so they are the same on every host. The numbers come
// last, so two different effects have different ids, whatever a thread id contains.

/** Returns the id of a model call. */
export const llmId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}`;

/** Returns the id of the model call that writes a summary. */
export const summaryId = (threadId: string, number: number): string => `${threadId}/summary-${number}#1`;

/** Returns the id of the check whether a step's reply is the requested output. */
export const checkId = (threadId: string, turn: number, step: number): string => `${threadId}/${turn}.${step}!output`;

/** Returns the prefix of the ids of a step's tool calls. */
export const stepId = (turn: number, step: number): string => `${turn}.${step}`;

/**
 * Returns the id of a tool call in its thread. It is known from the first piece of a reply on, and used alike in
 * messages, parts and effects.
 */
export const callIdAt = (turn: number, step: number, position: number): string =>
  callIdIn(stepId(turn, step), position);

/** Returns the id of the effect that runs a tool call. */
export const toolId = (threadId: string, callId: string, attempt: number): string => `${threadId}/${callId}#${attempt}`;

/** Returns the id of a request to approve a tool call. There may be several for one call. */
export const approvalId = (threadId: string, callId: string, number: number): string =>
  `${threadId}/${callId}!approval-${number}`;

/** Returns the id of the timer between two attempts of a model call. */
export const retryId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}!retry`;

/** Returns the id of the timer that bounds the wait for a summary; `step` is that of the last model call. */
export const waitId = (threadId: string, turn: number, step: number, attempt: number): string =>
  `${threadId}/${turn}.${step}#${attempt}!summary`;

/** Returns the id of the timer that bounds a turn. */
export const deadlineId = (threadId: string, turn: number): string => `${threadId}/${turn}!deadline`;

/** Returns the id of the timer that opens the next turn from the queue; `seq` is that of the entry that started it. */
export const queueId = (threadId: string, seq: number): string => `${threadId}/${seq}!queue`;

/**
 * Returns whether two ids name the same effect, apart from the thread. So a journal that was copied to another thread
 * id folds to the same conversation. Code that accepts answers from outside compares whole ids.
 */
export const isSameEffect = (left: string, right: string): boolean => placeIn(left) === placeIn(right);

/**
 * Returns the turn of an effect by its id. Returns null for effects outside turns: summaries and the timer of the
 * queue.
 */
export const turnOfEffect = (effectId: string): number | null => {
  const number = /^(\d+)(?:\.|!deadline$)/u.exec(placeIn(effectId))?.[1];
  return number === undefined ? null : Number(number);
};

/** Returns the id of an effect without its thread: its place in the conversation. */
export const placeIn = (effectId: string): string => effectId.slice(effectId.lastIndexOf("/") + 1);
