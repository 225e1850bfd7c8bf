/** The time, and waking up at one. Injected, so that a simulation can own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls back once at `dueAt` (milliseconds since the epoch) or as soon after it as can be, never before returning. The result
   * cancels it. A wait in the `background` is no reason for a process to stay alive.
   */
  wakeAt(dueAt: number, callback: () => void, kind?: "background"): () => void;
}
