/** A call in progress: awaited for its result, iterated for its parts. */
export interface PendingCall<Result, Part, ThreadId> extends AsyncIterable<Part>, Omit<Promise<Result>, symbol> {
  readonly threadId: ThreadId;
  readonly askId: string;
  /** The place after the part of its thread that was read last. */
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
 * The parts of a call, for any number of readers, each from the beginning. It joins the parts of an ask, whose readers
 * share them, with those of the program.
 */
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

  /** Passes the parts of an ask on, and ends as they do. */
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
