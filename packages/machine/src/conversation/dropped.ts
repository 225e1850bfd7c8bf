import type { ConversationData, DroppedAsk, DroppedBecause, QueuedAsk } from "./data.ts";
import { remembered } from "./data.ts";

/** No turn answers these asks any more. */
export const drop = (
  data: ConversationData,
  asks: readonly Pick<QueuedAsk, "askId" | "at">[],
  because: DroppedBecause,
  droppedAt: number,
): ConversationData => {
  if (asks.length === 0) return data;
  const added = asks.map(({ askId, at }): DroppedAsk => ({ askId, askedAt: at, droppedAt, because }));
  return { ...data, dropped: [...data.dropped, ...added].slice(-remembered) };
};
