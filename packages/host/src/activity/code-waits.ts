import type { ActiveThreads, Worker } from "./active-threads.ts";

/** The threads whose code waits for one result of another thread: their slots are lent until it is there. */
export class CodeWaits {
  readonly #active: ActiveThreads;
  /** The thread whose code asked for the result; null where none did. */
  readonly #asker: Worker | null;
  #waiting: Set<Worker> | null = null;

  constructor(active: ActiveThreads) {
    this.#active = active;
    this.#asker = active.code.owner();
  }

  /** Runs `post`, which asks another thread for the result, on behalf of no thread. That thread is urgent where a thread's code asks. */
  post(post: () => Worker | null): void {
    if (this.#asker === null) {
      post();
      return;
    }
    const worker = this.#active.code.run(null, post);
    if (worker !== null) this.#active.hurry(worker);
  }

  /** The running code awaits the result from here on. */
  begin(): void {
    const worker = this.#active.code.owner() ?? this.#asker;
    if (worker === null || this.#waiting?.has(worker) === true) return;
    this.#waiting = (this.#waiting ?? new Set()).add(worker);
    this.#active.lend(worker);
  }

  /** The result is there. */
  end(): void {
    for (const worker of this.#waiting ?? []) this.#active.reclaim(worker);
    this.#waiting = null;
  }
}
