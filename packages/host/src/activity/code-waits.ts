import type { ActiveThreads, Worker } from "./active-threads.ts";

/** The threads whose code waits for one result of another thread. Their slots are lent until the result arrives. */
export class CodeWaits {
  readonly #active: ActiveThreads;
  /** The thread whose code asked for the result; null if no thread's code did. */
  readonly #asker: Worker | null;
  #waiting: Set<Worker> | null = null;

  constructor(active: ActiveThreads) {
    this.#active = active;
    this.#asker = active.code.owner();
  }

  /**
   * Runs `post`, which asks another thread for the result, on behalf of no thread. If a thread's code asks, the other
   * thread becomes urgent.
   */
  post(post: () => Worker | null): void {
    if (this.#asker === null) {
      post();
      return;
    }
    const worker = this.#active.code.run(null, post);
    if (worker !== null) this.#active.hurry(worker);
  }

  /** Lends the slot of the running code's thread, which awaits the result from here on. */
  begin(): void {
    const worker = this.#active.code.owner() ?? this.#asker;
    if (worker === null || this.#waiting?.has(worker) === true) return;
    this.#waiting = (this.#waiting ?? new Set()).add(worker);
    this.#active.lend(worker);
  }

  /** Gives the slots back: the result has arrived. */
  end(): void {
    for (const worker of this.#waiting ?? []) this.#active.reclaim(worker);
    this.#waiting = null;
  }
}
