/** The turn and leg of a response. */
export interface LegPlace {
  readonly threadId: string;
  readonly turn: number;
  /** Starts at 1, and grows each time the turn continues after waiting for the caller. */
  readonly leg: number;
}

/** The queued ask of a response that has no turn yet. */
export interface QueuedPlace {
  readonly threadId: string;
  readonly askId: string;
}

/**
 * Derives the id of a response, so that every process knows it and a stream starts with the final id. A queued response
 * is named by its ask, since it has no turn yet. When the turn has started, both ids name it.
 */
export const responseId = (place: LegPlace | QueuedPlace): string =>
  "turn" in place ? `resp_${place.turn}_${place.leg}_${place.threadId}` : `resp_${place.askId}_${place.threadId}`;

/** Parses a response id; returns null if it is invalid. */
export const placeOfResponse = (id: string): LegPlace | QueuedPlace | null => {
  const [, turn, leg, threadId] = /^resp_(\d{1,15})_(\d+)_(.+)$/su.exec(id) ?? [];
  if (threadId !== undefined) return { threadId, turn: Number(turn), leg: Number(leg) };
  const [, askId, thread] = /^resp_([0-9a-f]{32})_(.+)$/su.exec(id) ?? [];
  return askId === undefined || thread === undefined ? null : { askId, threadId: thread };
};
