import type { ActiveThreads, Worker } from "./active-threads.ts";

/** Which threads' code waits for one thing that another thread does: their places are lent until it is done. */
export class CodeWaits {
  readonly #active: ActiveThreads;
  /** Whose code asked for it. */
  readonly #asker: Worker | null;
  #waiting: Set<Worker> | null = null;

  constructor(active: ActiveThreads) {
    this.#active = active;
    this.#asker = active.code.owner();
  }

  /** Does what asks for it, on behalf of no thread, and gives it precedence where a thread's code asks. */
  post(post: () => Worker | null): void {
    if (this.#asker === null) {
      post();
      return;
    }
    const worker = this.#active.code.run(null, post);
    if (worker !== null) this.#active.hurry(worker);
  }

  /** It is awaited from here on, by the code that is running. */
  begin(): void {
    const worker = this.#active.code.owner() ?? this.#asker;
    if (worker === null || this.#waiting?.has(worker) === true) return;
    this.#waiting = (this.#waiting ?? new Set()).add(worker);
    this.#active.lend(worker);
  }

  /** It is done. */
  end(): void {
    for (const worker of this.#waiting ?? []) this.#active.reclaim(worker);
    this.#waiting = null;
  }
}
