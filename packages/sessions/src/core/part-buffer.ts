/** The parts of a call, for any number of readers, each from the beginning. */
export class PartBuffer<Part extends object> implements AsyncIterable<Part | PartsDropped> {
  #parts: Part[] = [];
  /** The number of dropped parts before the first that is kept. */
  #gone = 0;
  #ended = false;
  #error: unknown = null;
  #news: PromiseWithResolvers<void> = Promise.withResolvers();

  push(part: Part): void {
    if (this.#ended) return;
    this.#parts.push(Object.freeze(part));
    if (this.#parts.length >= 2 * most) {
      this.#parts = this.#parts.slice(-most);
      this.#gone += most;
    }
    this.#wake();
  }

  /** @param error the error that reading throws at the end, if the call got no turn. */
  end(error: unknown = null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Part | PartsDropped> {
    for (let next = 0; ; next++) {
      while (next >= this.#gone + this.#parts.length) {
        if (!this.#ended) await this.#news.promise;
        else if (this.#error === null) return;
        // Equals the call's rejection, which may be any value that its program threw.
        // oxlint-disable-next-line typescript/only-throw-error
        else throw this.#error;
      }
      if (next < this.#gone) {
        yield { type: "parts.dropped", count: this.#gone - next };
        next = this.#gone;
      }
      const part = this.#parts[next - this.#gone];
      if (part !== undefined) yield part;
    }
  }

  #wake(): void {
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }
}

/** The reader was too slow: this many older parts were dropped. */
interface PartsDropped {
  readonly type: "parts.dropped";
  readonly count: number;
}

const most = 1_000;
