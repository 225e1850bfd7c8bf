/** A call in progress: awaited for its result, iterated for its parts. */
export interface PendingCall<Result, Part, ThreadId> extends AsyncIterable<Part>, Omit<Promise<Result>, symbol> {
  readonly threadId: ThreadId;
  readonly askId: string;
  /** The position after the last part that was read; null before the first. */
  readonly cursor: string | null;
  readonly abort: (reason?: string) => void;
}

/** Makes the handle of a call. Awaiting it is optional, so its rejection does not count as unhandled. */
export const pendingCall = <Result, Part extends object, ThreadId extends string | null>(
  result: Promise<Result>,
  parts: AsyncIterable<Part>,
  call: Pick<PendingCall<Result, Part, ThreadId>, "threadId" | "askId" | "abort">,
  cursor: () => string | null = () => null,
): PendingCall<Result, Part, ThreadId> => {
  result.catch(() => {});
  return {
    ...call,
    get cursor() {
      return cursor();
    },
    // oxlint-disable-next-line unicorn/no-thenable -- awaiting the handle returns its result
    then: (onFulfilled, onRejected) => result.then(onFulfilled, onRejected),
    catch: (onRejected) => result.catch(onRejected),
    finally: (onSettled) => result.finally(onSettled),
    [Symbol.asyncIterator]: () => parts[Symbol.asyncIterator](),
  };
};

/**
 * A buffer of a call's parts: those of its ask, and those of the program. Each reader reads it from the beginning, unlike
 * an ask, whose readers share its parts.
 */
export class PartBuffer<Part extends object> implements AsyncIterable<Part | PartsDropped> {
  #parts: Part[] = [];
  /** The number of dropped parts before the first that is kept. */
  #dropped = 0;
  #ended = false;
  #error: unknown = null;
  #changed: PromiseWithResolvers<void> = Promise.withResolvers();

  push(part: Part): void {
    if (this.#ended) return;
    this.#parts.push(Object.freeze(part));
    if (this.#parts.length >= 2 * partsMax) {
      this.#parts = this.#parts.slice(-partsMax);
      this.#dropped += partsMax;
    }
    this.#wake();
  }

  /** @param error the error that reading throws at the end, if the call got no turn. */
  end(error: unknown = null): void {
    this.#ended = true;
    this.#error = error;
    this.#wake();
  }

  /** Passes each part of an ask to `pass`, and ends or fails with the ask. */
  async endWith(ask: AsyncIterable<Part>, pass: (part: Part) => void): Promise<void> {
    try {
      for await (const part of ask) pass(part);
      this.end();
    } catch (thrown) {
      this.end(thrown);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Part | PartsDropped> {
    for (let next = 0; ; next++) {
      while (next >= this.#dropped + this.#parts.length) {
        if (!this.#ended) await this.#changed.promise;
        else if (this.#error === null) return;
        // It is the call's rejection, which may be any value that its program threw.
        // oxlint-disable-next-line typescript/only-throw-error
        else throw this.#error;
      }
      if (next < this.#dropped) {
        yield { type: "parts.dropped", count: this.#dropped - next };
        next = this.#dropped;
      }
      const part = this.#parts[next - this.#dropped];
      if (part !== undefined) yield part;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

/** The reader was too slow: this many older parts were dropped. */
interface PartsDropped {
  readonly type: "parts.dropped";
  readonly count: number;
}

const partsMax = 1_000;
