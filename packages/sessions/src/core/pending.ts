/** A running request: awaited for its result, iterated for its parts. */
export class Pending<Result, Part> implements PromiseLike<Result>, AsyncIterable<Part> {
  readonly #result: Promise<Result>;
  readonly #parts: () => AsyncIterable<Part>;
  readonly #abort: (reason: string | undefined) => void;

  constructor(result: Promise<Result>, parts: () => AsyncIterable<Part>, abort: (reason: string | undefined) => void) {
    this.#result = result;
    this.#parts = parts;
    this.#abort = abort;
    // Awaiting it is optional, so a rejection must not count as unhandled.
    result.catch(() => {});
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting the handle returns its result
  then<Fulfilled = Result, Rejected = never>(
    onFulfilled?: ((value: Result) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#result.then(onFulfilled, onRejected);
  }

  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<Result | Caught> {
    return this.#result.catch(onRejected);
  }

  finally(onSettled: () => void): Promise<Result> {
    return this.#result.finally(onSettled);
  }

  abort(reason?: string): void {
    this.#abort(reason);
  }

  [Symbol.asyncIterator](): AsyncIterator<Part> {
    return this.#parts()[Symbol.asyncIterator]();
  }
}
