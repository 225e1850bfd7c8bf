/**
 * Is notified when an ask gets a turn, loses it, or is settled. Generic, so that both the ask and the collection that
 * keeps it can name this type.
 */
export interface AskWatcher<Ask> {
  /** Called when a turn answers the ask, or the ask waits to join one. */
  joined(ask: Ask, turn: number): void;
  /** Called when the ask has lost its turn and has no other. */
  left(ask: Ask): void;
  /** Called when the ask has its outcome, or has moved to another thread. */
  settled(ask: Ask): void;
}

/** Stops an ask. Returns true if its event had not been handled yet, so nothing of it is journalled. */
export type StopAsk<Ask> = (ask: Ask, reason: string | undefined) => boolean;
