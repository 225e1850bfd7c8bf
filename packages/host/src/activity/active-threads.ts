import { type CodeScope, codeScope } from "./code-scope.ts";

/** A thread that is used here, as it takes part in sharing the places. */
export interface Worker {
  /** It has a place and does not work, and another thread waits for one: it is to let go of the thread, or at least of the place. */
  makeRoom(): void;
}

/** What a thread does with its place. `works`: it is being opened, or its model is called. `rests`: it waits for something else, such as its tools. */
export type Activity = "works" | "rests";

/**
 * The places for threads that are worked on. A thread takes one to be opened, and to call its model; while it waits for
 * anything else (a tool, a hook, an approval, a retry) the place may be taken by another. So whatever tools and hooks wait
 * for, other threads above all, can go on. A model handler that waits for another thread lends its place meanwhile.
 *
 * A thread that needs a place where none is free stands in line, first come first served, behind threads that go on with a
 * turn after their tools, and threads that code of this host waits for: what was begun is ended before more is begun.
 */
export class ActiveThreads {
  /** Whose code is running, of what runs on behalf of a thread: handlers, tools and hooks. */
  readonly code: CodeScope<Worker> = codeScope();
  readonly #most: number;
  readonly #placed = new Set<Worker>();
  /** In line, with what lets them in. */
  readonly #waiting = new Map<Worker, PromiseWithResolvers<void>>();
  /** Threads that go before others in line, now or when they come there. */
  readonly #urgent = new Set<Worker>();
  /** The one that rests longest comes first. */
  readonly #resting = new Set<Worker>();
  /** Asked to make room, and not gone yet. */
  readonly #leaving = new Set<Worker>();
  /** Whose code waits for other threads. */
  readonly #lending = new Map<Worker, Loan>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Gives a place to work: at once, or when the promise resolves, as it also does when the worker leaves the line. */
  enter(worker: Worker, isUrgent = false): void | Promise<void> {
    if (this.#placed.has(worker)) {
      this.report(worker, "works");
      return;
    }
    if (this.#placed.size < this.#most && this.#waiting.size === 0) {
      this.#place(worker);
      return;
    }
    if (isUrgent) this.#urgent.add(worker);
    const waiting = this.#waiting.get(worker) ?? Promise.withResolvers<void>();
    this.#waiting.set(worker, waiting);
    this.#makeRoom();
    return waiting.promise;
  }

  /** Code of this host waits for what this worker does. */
  hurry(worker: Worker): void {
    if (!this.#placed.has(worker)) this.#urgent.add(worker);
  }

  /** Gives back its place, or its place in the line. */
  leave(worker: Worker): void {
    this.#waiting.get(worker)?.resolve();
    this.#waiting.delete(worker);
    this.#urgent.delete(worker);
    this.#restsWhileLent(worker);
    this.#forget(worker);
    if (this.#placed.delete(worker)) this.#admit();
    // Where more than all places were taken, others may still have to go.
    this.#makeRoom();
  }

  /** What a worker that has a place does from now on. */
  report(worker: Worker, activity: Activity): void {
    if (activity === "rests") this.#restsWhileLent(worker);
    if (!this.#placed.has(worker)) return;
    this.#forget(worker);
    if (activity === "rests") this.#resting.add(worker);
    this.#makeRoom();
  }

  /** Its code waits for another thread, and others may have its place until it says that it does so no more. */
  lend(worker: Worker): void {
    const loan = this.#lending.get(worker) ?? { times: 0, isOwed: false };
    this.#lending.set(worker, loan);
    loan.times++;
    if (!this.#placed.has(worker) || this.#resting.has(worker)) return;
    loan.isOwed = true;
    this.#forget(worker);
    this.#placed.delete(worker);
    this.#admit();
  }

  /** Its code goes on, which nothing can prevent: it has its place again, even where all places are taken by now. */
  reclaim(worker: Worker): void {
    const loan = this.#lending.get(worker);
    if (loan === undefined || --loan.times > 0) return;
    this.#lending.delete(worker);
    if (!loan.isOwed) return;
    if (this.#waiting.has(worker)) this.#urgent.add(worker);
    else this.#place(worker);
  }

  /** It needs its place no more, and takes one when it does. */
  #restsWhileLent(worker: Worker): void {
    const loan = this.#lending.get(worker);
    if (loan !== undefined) loan.isOwed = false;
  }

  #place(worker: Worker): void {
    this.#urgent.delete(worker);
    this.#placed.add(worker);
  }

  #forget(worker: Worker): void {
    this.#resting.delete(worker);
    this.#leaving.delete(worker);
  }

  #admit(): void {
    while (this.#placed.size < this.#most) {
      const worker = this.#first();
      if (worker === undefined) return;
      const waiting = this.#waiting.get(worker);
      this.#waiting.delete(worker);
      this.#place(worker);
      waiting?.resolve();
    }
  }

  /** The thread to be let in next. */
  #first(): Worker | undefined {
    for (const worker of this.#urgent) if (this.#waiting.has(worker)) return worker;
    const [first] = this.#waiting.keys();
    return first;
  }

  #makeRoom(): void {
    for (const worker of this.#resting) {
      if (this.#leaving.size >= this.#waiting.size) break;
      this.#resting.delete(worker);
      this.#leaving.add(worker);
      worker.makeRoom();
    }
  }
}

interface Loan {
  /** For how many things its code waits. */
  times: number;
  /** Whether it gave its place away, and works on when nothing is waited for any more. */
  isOwed: boolean;
}
