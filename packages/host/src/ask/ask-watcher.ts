/** Is notified when an ask gets a turn, loses it, or is done with. */
export interface AskWatcher<Ask> {
  joined(ask: Ask, turn: number): void;
  /** Its turn is gone, and it has none. */
  left(ask: Ask): void;
  /** It has its outcome, or is an ask of another thread now. */
  settled(ask: Ask): void;
}

/** Stops an ask. True when its event had not been handled yet, so that nothing of it is journalled. */
export type StopAsk<Ask> = (ask: Ask, reason: string | undefined) => boolean;
