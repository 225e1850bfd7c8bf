import { type CodeScope, codeScope } from "./code-scope.ts";

/** An open thread, as the sharing of slots sees it. */
export interface Worker {
  /**
   * Asks the worker to close, or at least to give back its slot: another thread waits for one, and this worker does not
   * use its own.
   */
  makeRoom(): void;
}

/**
 * A thread's use of its slot. `works`: it is being opened, or its model is called. `rests`: it waits for something
 * else, such as its tools.
 */
export type Activity = "works" | "rests";

/**
 * Limits how many threads are active at a time. A thread takes a slot to be opened, and to call its model. While it
 * waits for anything else (a tool, a hook, an approval, a retry), another thread may take the slot. So tools and hooks
 * that wait for other threads never deadlock. A model handler that waits for another thread lends its slot meanwhile.
 *
 * A thread that finds no free slot queues, first come first served, after the urgent ones. Urgent are threads that
 * continue a turn after their tools, and threads that code of this host waits for. So turns are ended before others are
 * started.
 */
export class ActiveThreads {
  /** The thread on whose behalf the running code (a handler, a tool, a hook) was called. */
  readonly code: CodeScope<Worker> = codeScope();
  readonly #slots: number;
  readonly #active = new Set<Worker>();
  /** The queue: each waiting thread, with the promise that it waits for. */
  readonly #waiting = new Map<Worker, PromiseWithResolvers<void>>();
  /** Threads that go before others in the queue, now or when they enter it. */
  readonly #urgent = new Set<Worker>();
  /** Threads with a slot that they do not use, longest first. */
  readonly #resting = new Set<Worker>();
  /** Threads that were asked to make room, and have not left yet. */
  readonly #leaving = new Set<Worker>();
  /** Threads whose code waits for other threads. */
  readonly #lending = new Map<Worker, Loan>();

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Gives the worker a slot: at once, or when the promise resolves. The promise also resolves when the worker leaves the queue. */
  enter(worker: Worker, isUrgent = false): void | Promise<void> {
    if (this.#active.has(worker)) {
      this.report(worker, "works");
      return;
    }
    if (this.#active.size < this.#slots && this.#waiting.size === 0) {
      this.#activate(worker);
      return;
    }
    if (isUrgent) this.#urgent.add(worker);
    const waiting = this.#waiting.get(worker) ?? Promise.withResolvers<void>();
    this.#waiting.set(worker, waiting);
    this.#makeRoom();
    return waiting.promise;
  }

  /** Makes a worker urgent: code of this host waits for its thread. */
  hurry(worker: Worker): void {
    if (!this.#active.has(worker)) this.#urgent.add(worker);
  }

  /** Gives back the slot of a worker, or takes it out of the queue. */
  leave(worker: Worker): void {
    this.#waiting.get(worker)?.resolve();
    this.#waiting.delete(worker);
    this.#urgent.delete(worker);
    this.#forgiveLoan(worker);
    this.#forget(worker);
    if (this.#active.delete(worker)) this.#admit();
    // `reclaim` may have taken more slots than there are: then others still have to leave.
    this.#makeRoom();
  }

  /** Records what a worker that has a slot does from now on. */
  report(worker: Worker, activity: Activity): void {
    if (activity === "rests") this.#forgiveLoan(worker);
    if (!this.#active.has(worker)) return;
    this.#forget(worker);
    if (activity === "rests") this.#resting.add(worker);
    this.#makeRoom();
  }

  /** Lends the slot of a worker whose code waits for another thread, until `reclaim`. Calls may nest. */
  lend(worker: Worker): void {
    const loan = this.#lending.get(worker) ?? { times: 0, isOwed: false };
    this.#lending.set(worker, loan);
    loan.times++;
    if (!this.#active.has(worker) || this.#resting.has(worker)) return;
    loan.isOwed = true;
    this.#forget(worker);
    this.#active.delete(worker);
    this.#admit();
  }

  /**
   * Gives the slot back to a worker whose code continues. It gets one at once, even if all slots are taken, since
   * running code cannot be stopped.
   */
  reclaim(worker: Worker): void {
    const loan = this.#lending.get(worker);
    if (loan === undefined || --loan.times > 0) return;
    this.#lending.delete(worker);
    if (!loan.isOwed) return;
    if (this.#waiting.has(worker)) this.#urgent.add(worker);
    else this.#activate(worker);
  }

  /** Forgives the loan of a slot that is no longer needed. */
  #forgiveLoan(worker: Worker): void {
    const loan = this.#lending.get(worker);
    if (loan !== undefined) loan.isOwed = false;
  }

  #activate(worker: Worker): void {
    this.#urgent.delete(worker);
    this.#active.add(worker);
  }

  #forget(worker: Worker): void {
    this.#resting.delete(worker);
    this.#leaving.delete(worker);
  }

  #admit(): void {
    while (this.#active.size < this.#slots) {
      const worker = this.#first();
      if (worker === undefined) return;
      const waiting = this.#waiting.get(worker);
      this.#waiting.delete(worker);
      this.#activate(worker);
      waiting?.resolve();
    }
  }

  /** Returns the next thread of the queue. */
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
  /** How many threads the worker's code waits for. */
  times: number;
  /** Whether its slot was given away, and is due back when its code stops waiting. */
  isOwed: boolean;
}
