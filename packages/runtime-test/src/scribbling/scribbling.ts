import { Scribbler } from "./scribble.ts";

/** Somebody who now and then writes into all that he is given, and into all that he handed in, once that was done. */
export class Scribbling {
  readonly #comesOverHim: () => boolean;
  readonly #now: () => number;
  readonly #scribbler = new Scribbler();
  #handedIn: { readonly value: unknown; readonly at: number }[] = [];

  constructor(comesOverHim: () => boolean, now: () => number) {
    this.#comesOverHim = comesOverHim;
    this.#now = now;
  }

  /** He is given this. */
  given(...values: readonly unknown[]): void {
    if (!this.#comesOverHim()) return;
    this.#scribbler.visit(values);
    const [before, now] = [this.#handedIn, this.#now()];
    this.#handedIn = before.filter(({ at }) => at === now);
    for (const { value, at } of before) if (at < now) this.#scribbler.visit(value);
  }

  /** What he hands in: a copy that is his own. What an async function returned he writes into when some time has passed: it is handed in when it was read. */
  handsIn<Value>(value: Value): Value {
    const own = structuredClone(value);
    this.#handedIn.push({ value: own, at: this.#now() });
    return own;
  }

  /** The call has returned in which he handed these in. */
  handedIn(...values: readonly unknown[]): void {
    if (this.#comesOverHim()) this.#scribbler.visit(values);
  }
}
