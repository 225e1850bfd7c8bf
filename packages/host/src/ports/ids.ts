/** Draws ids for threads, asks, owners of leases, and inbox items to them. Injected, so that a simulation can own it. */
export interface Ids {
  /** A new id, never drawn before. */
  draw(kind: "thread" | "ask" | "owner" | "item"): string;
}
