/** So many places, and a queue for them, first come first served. A caller that waited may have given up meanwhile. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(places: number) {
    this.#free = places;
  }

  /** Calls back when there is a place: at once, or when one is given back. */
  take(callback: () => void): void {
    if (this.#free === 0) {
      this.#waiting.push(callback);
      return;
    }
    this.#free--;
    callback();
  }

  /**
   * Gives back what `take` with this callback got: its place, or its place in the queue. The next one is called
   * when what is being done now is done: it may be about to be given up as well.
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
