/** Draws ids for threads, asks and owners of leases. Injected, so that a simulation can own it. */
export interface Ids {
  /** A new id, never drawn before. */
  draw(kind: "thread" | "ask" | "owner"): string;
}
