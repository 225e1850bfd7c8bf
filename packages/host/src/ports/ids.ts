/** Generates ids for threads, asks, lease owners, and inbox items. Injected, so that a simulation can control it. */
export interface Ids {
  /** Returns a new id, never used before. */
  draw(kind: "thread" | "ask" | "owner" | "item"): string;
}
