import type { Clock } from "./ports/clock.ts";

/** A thread that is used here, as those see it who share out the places. */
export interface Worker {
  /** It has a place and nothing to do, and somebody waits for one: it is to let go of the thread, or at least of the place. */
  makeRoom(): void;
}

/**
 * What a thread does with its place. `rests`: nothing, until it is told something. `tools`: it waits for its tools,
 * which may themselves ask on other threads.
 */
export type Doing = "works" | "rests" | "tools";

/**
 * The places for threads that are worked on. When all are taken, whoever rests longest makes room for who waits;
 * where nobody rests, others wait in line, first come first served. Who gave up its place and has work again
 * stands at the end of the line.
 *
 * Tools may ask on threads that wait here, and then no place would ever become free: when all who have one have waited
 * for their tools for a while, one more is let in.
 */
export class ActiveThreads {
  readonly #most: number;
  readonly #clock: Clock;
  readonly #placed = new Set<Worker>();
  /** In line, with what lets them in. */
  readonly #waiting = new Map<Worker, () => void>();
  /** Who rests longest comes first. */
  readonly #resting = new Set<Worker>();
  readonly #inTools = new Set<Worker>();
  /** Told to make room, and not gone yet. */
  readonly #leaving = new Set<Worker>();
  #cancelRelief: (() => void) | null = null;

  constructor(most: number, clock: Clock) {
    this.#most = most;
    this.#clock = clock;
  }

  /** Gives a place: at once, or when the promise resolves, as it also does when the worker leaves the line. */
  enter(worker: Worker): void | Promise<void> {
    if (this.#placed.has(worker)) return;
    if (this.#placed.size < this.#most && this.#waiting.size === 0) {
      this.#placed.add(worker);
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.set(worker, resolve);
    this.#makeRoom();
    return promise;
  }

  /** Gives back its place, or its place in the line. */
  leave(worker: Worker): void {
    this.#waiting.get(worker)?.();
    this.#waiting.delete(worker);
    this.#forget(worker);
    if (this.#placed.delete(worker)) this.#admit();
    this.#relieve();
  }

  /** What who has a place does from now on. */
  report(worker: Worker, doing: Doing): void {
    if (!this.#placed.has(worker)) return;
    this.#forget(worker);
    if (doing === "rests") this.#resting.add(worker);
    if (doing === "tools") this.#inTools.add(worker);
    if (this.#waiting.size > 0) this.#makeRoom();
  }

  #forget(worker: Worker): void {
    this.#resting.delete(worker);
    this.#inTools.delete(worker);
    this.#leaving.delete(worker);
  }

  #admit(): void {
    while (this.#placed.size < this.#most && this.#letIn());
  }

  /** Lets the first in line in. False when nobody waits. */
  #letIn(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return false;
    const [worker, enter] = first;
    this.#waiting.delete(worker);
    this.#placed.add(worker);
    enter();
    return true;
  }

  #makeRoom(): void {
    for (const worker of this.#resting) {
      if (this.#leaving.size >= this.#waiting.size) break;
      this.#resting.delete(worker);
      this.#leaving.add(worker);
      worker.makeRoom();
    }
    this.#relieve();
  }

  /** Sees to it that somebody is let in where nobody who has a place can go on by itself. */
  #relieve(): void {
    const stuck = this.#waiting.size > 0 && this.#inTools.size === this.#placed.size;
    if (!stuck) {
      this.#cancelRelief?.();
      this.#cancelRelief = null;
    } else if (this.#cancelRelief === null) {
      this.#cancelRelief = this.#clock.wakeAt(this.#clock.now() + stuckMs, () => {
        this.#cancelRelief = null;
        this.#letIn();
        this.#relieve();
      });
    }
  }
}

/** How long all may wait for their tools before one more is let in. */
const stuckMs = 250;
