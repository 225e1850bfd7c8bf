/** The time, and timers. Injected, so that a simulation can control it. */
export interface Clock {
  /** Returns the time in milliseconds since the epoch. */
  now(): number;
  /**
   * Calls back once at `dueAt` (milliseconds since the epoch) or as soon after it as possible, never before returning.
   * Returns a function that cancels it. A timer in the `background` does not keep a process alive.
   */
  wakeAt(dueAt: number, callback: () => void, kind?: "background"): () => void;
}
