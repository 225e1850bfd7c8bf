import type { AskHandle } from "@colloquy/host";
import type { CallHandle, CallPart } from "./call.ts";

/** The ask that a call became. */
export interface Asked {
  readonly handle: AskHandle;
}

/** A call under way. */
export class PendingCall implements CallHandle<object> {
  readonly threadId: string | null;
  readonly askId: string;
  readonly #asked: Promise<Asked>;
  readonly #result: Promise<object>;

  constructor(threadId: string | null, askId: string, asked: Promise<Asked>, result: Promise<object>) {
    this.threadId = threadId;
    this.askId = askId;
    this.#asked = asked;
    this.#result = result;
    // Whoever awaits it learns of it; nobody has to.
    result.catch(() => {});
  }

  // oxlint-disable-next-line unicorn/no-thenable -- awaiting the handle is how its outputs are had
  then<Fulfilled = object, Rejected = never>(
    onFulfilled?: ((value: object) => Fulfilled | PromiseLike<Fulfilled>) | null,
    onRejected?: ((reason: unknown) => Rejected | PromiseLike<Rejected>) | null,
  ): Promise<Fulfilled | Rejected> {
    return this.#result.then(onFulfilled, onRejected);
  }

  catch<Caught>(onRejected: (error: unknown) => Caught | PromiseLike<Caught>): Promise<object | Caught> {
    return this.#result.catch(onRejected);
  }

  finally(onSettled: () => void): Promise<object> {
    return this.#result.finally(onSettled);
  }

  abort(reason?: string): void {
    const abort = ({ handle }: Asked): void => handle.abort(reason);
    this.#asked.then(abort, () => {});
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CallPart> {
    const { handle } = await this.#asked;
    yield* handle;
  }
}
