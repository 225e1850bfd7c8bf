/** Which leg of which turn a response is. */
export interface LegPlace {
  readonly threadId: string;
  readonly turn: number;
  /** From 1: one more each time that the turn went on after it waited for the caller. */
  readonly leg: number;
}

/** The id of a response. It is derived, so every process knows it, and the one in a stream is the final one. */
export const responseId = ({ threadId, turn, leg }: LegPlace): string => `resp_${turn}_${leg}_${threadId}`;

/** Which leg an id names; null for an id that is none of a response. */
export const placeOfResponse = (id: string): LegPlace | null => {
  const [, turn, leg, threadId] = /^resp_(\d+)_(\d+)_(.+)$/su.exec(id) ?? [];
  return threadId === undefined ? null : { threadId, turn: Number(turn), leg: Number(leg) };
};
