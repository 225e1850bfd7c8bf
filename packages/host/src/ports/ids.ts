/** Draws ids for threads, asks, owners of leases, and letters to them. Injected, so that a simulation can own it. */
export interface Ids {
  /** A new id, never drawn before. */
  draw(kind: "thread" | "ask" | "owner" | "letter"): string;
}
