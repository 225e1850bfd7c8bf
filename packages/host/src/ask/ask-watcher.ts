/**
 * Is notified when an ask gets a turn, loses it, or is done with. Of asks in general, so that an ask and whoever keeps
 * asks can both name it.
 */
export interface AskWatcher<Ask> {
  /** A turn answers it, or it waits to join one. */
  joined(ask: Ask, turn: number): void;
  /** Its turn is gone, and it has none. */
  left(ask: Ask): void;
  /** It has its outcome, or is an ask of another thread now. */
  settled(ask: Ask): void;
}

/** Stops an ask. True when its event had not been handled yet, so that nothing of it is journalled. */
export type StopAsk<Ask> = (ask: Ask, reason: string | undefined) => boolean;
