/** A semaphore: a number of slots, and a queue for them, first come first served. A caller may leave the queue. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(slots: number) {
    this.#free = slots;
  }

  /** Calls back when there is a slot: at once, or when one is given back. */
  take(callback: () => void): void {
    if (this.#free === 0) {
      this.#waiting.push(callback);
      return;
    }
    this.#free--;
    callback();
  }

  /**
   * Gives back the slot that `take` gave to this callback, or removes the callback from the queue. The next one is
   * called in a microtask, since the running code may be about to remove it from the queue as well.
   */
  giveBack(callback: () => void): void {
    const index = this.#waiting.indexOf(callback);
    if (index >= 0) {
      this.#waiting.splice(index, 1);
      return;
    }
    const following = this.#waiting.shift();
    if (following === undefined) this.#free++;
    else void Promise.resolve().then(following);
  }
}
