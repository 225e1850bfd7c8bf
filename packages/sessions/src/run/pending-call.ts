/** A call in progress: awaited for its result, iterated for its parts. */
export class PendingCall<Result, Part extends object, ThreadId extends string | null>
  implements PromiseLike<Result>, AsyncIterable<Part>
{
  readonly threadId: ThreadId;
  readonly askId: string;
  readonly #call: CallInProgress<Result, Part, ThreadId>;

  constructor(call: CallInProgress<Result, Part, ThreadId>) {
    this.threadId = call.threadId;
    this.askId = call.askId;
    this.#call = call;
    // Awaiting it is optional, so a rejection must not count as unhandled.
    call.result.catch(() => {});
  }

  get cursor(): string | null {
    return this.#call.cursor?.() ?? null;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting the handle returns its result
  then<Fulfilled = Result, Rejected = never>(
    onFulfilled?: ((value: Result) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#call.result.then(onFulfilled, onRejected);
  }

  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<Result | Caught> {
    return this.#call.result.catch(onRejected);
  }

  finally(onSettled: () => void): Promise<Result> {
    return this.#call.result.finally(onSettled);
  }

  abort(reason?: string): void {
    this.#call.abort(reason);
  }

  [Symbol.asyncIterator](): AsyncIterator<Part> {
    return this.#call.parts[Symbol.asyncIterator]();
  }
}

interface CallInProgress<Result, Part extends object, ThreadId extends string | null> {
  readonly threadId: ThreadId;
  readonly askId: string;
  readonly result: Promise<Result>;
  readonly parts: AsyncIterable<Part>;
  readonly abort: (reason?: string) => void;
  /** Returns the place after the part of its thread that was read last. */
  readonly cursor?: () => string | null;
}

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
