import { type CodeScope, codeScope } from "./code-scope.ts";

/** An open thread, as far as the sharing of slots needs it. */
export interface Worker {
  /** Another thread waits for a slot, and this one has a slot that it does not use: it must close, or at least give back the slot. */
  makeRoom(): void;
}

/** What a thread does with its slot. `works`: it is being opened, or its model is called. `rests`: it waits for something else, such as its tools. */
export type Activity = "works" | "rests";

/**
 * Limits how many threads are active at a time. A thread takes a slot to be opened, and to call its model; while it waits
 * for anything else (a tool, a hook, an approval, a retry) another thread may take the slot. So tools and hooks that wait
 * for other threads never deadlock. A model handler that waits for another thread lends its slot meanwhile.
 *
 * A thread that finds no free slot queues, first come first served, behind the urgent ones: threads that go on with a turn
 * after their tools, and threads that code of this host waits for. So turns are ended before others are begun.
 */
export class ActiveThreads {
  /** The thread on whose behalf the running code (a handler, a tool, a hook) was called. */
  readonly code: CodeScope<Worker> = codeScope();
  readonly #slots: number;
  readonly #active = new Set<Worker>();
  /** The queue, with the promise that each of them waits for. */
  readonly #waiting = new Map<Worker, PromiseWithResolvers<void>>();
  /** Threads that go before others in the queue, now or when they enter it. */
  readonly #urgent = new Set<Worker>();
  /** Those with a slot that they do not use, longest first. */
  readonly #resting = new Set<Worker>();
  /** Those that were asked to make room, and have not left yet. */
  readonly #leaving = new Set<Worker>();
  /** Those whose code waits for other threads. */
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

  /** Notes what a worker that has a slot does from now on. */
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

  /** Gives the slot back to a worker whose code goes on: at once, even where all slots are taken, since running code can't be stopped. */
  reclaim(worker: Worker): void {
    const loan = this.#lending.get(worker);
    if (loan === undefined || --loan.times > 0) return;
    this.#lending.delete(worker);
    if (!loan.isOwed) return;
    if (this.#waiting.has(worker)) this.#urgent.add(worker);
    else this.#activate(worker);
  }

  /** Forgives the loan of a slot that is not needed any more. */
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

  /** The next of the queue. */
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
  /** How many threads its code waits for. */
  times: number;
  /** Whether its slot was given away, and is due when its code waits no more. */
  isOwed: boolean;
}
