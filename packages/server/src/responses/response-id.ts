/** Which leg of which turn a response is. */
export interface LegPlace {
  readonly threadId: string;
  readonly turn: number;
  /** From 1: one more each time that the turn went on after it waited for the caller. */
  readonly leg: number;
}

/** Which ask a response is of that waits for its turn. */
export interface QueuedPlace {
  readonly threadId: string;
  readonly askId: string;
}

/**
 * The id of a response. It is derived, so every process knows it, and the one in a stream is the final one. One that is queued
 * has no turn yet, and is named by its ask: from its turn on both ids name it.
 */
export const responseId = (place: LegPlace | QueuedPlace): string =>
  "turn" in place ? `resp_${place.turn}_${place.leg}_${place.threadId}` : `resp_${place.askId}_${place.threadId}`;

/** What an id names; null for an id that is none of a response. */
export const placeOfResponse = (id: string): LegPlace | QueuedPlace | null => {
  const [, turn, leg, threadId] = /^resp_(\d{1,15})_(\d+)_(.+)$/su.exec(id) ?? [];
  if (threadId !== undefined) return { threadId, turn: Number(turn), leg: Number(leg) };
  const [, askId, thread] = /^resp_([0-9a-f]{32})_(.+)$/su.exec(id) ?? [];
  return askId === undefined || thread === undefined ? null : { askId, threadId: thread };
};
