import type { AskResult } from "./result.ts";

/**
 * The outcome of an ask. Its promise is made when it is first awaited, so that an ask that is never awaited causes no
 * unhandled rejection.
 */
export class Settlement {
  #outcome: AskResult | Error | null = null;
  #promise: PromiseWithResolvers<AskResult> | null = null;

  get isThere(): boolean {
    return this.#outcome !== null;
  }

  get promise(): Promise<AskResult> {
    this.#promise ??= Promise.withResolvers();
    this.#deliver();
    return this.#promise.promise;
  }

  settle(outcome: AskResult | Error): void {
    this.#outcome = outcome;
    this.#deliver();
  }

  #deliver(): void {
    if (this.#outcome instanceof Error) this.#promise?.reject(this.#outcome);
    else if (this.#outcome !== null) this.#promise?.resolve(this.#outcome);
  }
}
