import { Scribbler } from "./scribble.ts";

/**
 * A client that sometimes writes into the values that it receives, and into the values that it passed, after the call.
 */
export class Scribbling {
  readonly #comesOverHim: () => boolean;
  readonly #now: () => number;
  readonly #scribbler = new Scribbler();
  #handedIn: { readonly value: unknown; readonly at: number }[] = [];

  constructor(comesOverHim: () => boolean, now: () => number) {
    this.#comesOverHim = comesOverHim;
    this.#now = now;
  }

  /** Receives values, and may write into them. */
  given(...values: readonly unknown[]): void {
    if (!this.#comesOverHim()) return;
    this.#scribbler.visit(values);
    const [before, now] = [this.#handedIn, this.#now()];
    this.#handedIn = before.filter(({ at }) => at === now);
    for (const { value, at } of before) if (at < now) this.#scribbler.visit(value);
  }

  /**
   * Returns a separate copy of a value to pass. If an async function returns the copy, it is written into only after
   * some time has passed, when the receiver has read it.
   */
  handsIn<Value>(value: Value): Value {
    const own = structuredClone(value);
    this.#handedIn.push({ value: own, at: this.#now() });
    return own;
  }

  /** Notes that the call with these arguments has returned, and may write into them. */
  handedIn(...values: readonly unknown[]): void {
    if (this.#comesOverHim()) this.#scribbler.visit(values);
  }
}
