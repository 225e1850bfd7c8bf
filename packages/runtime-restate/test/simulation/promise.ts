import { RestatePromise, TerminalError, TimeoutError } from "@restatedev/restate-sdk";

export type Outcome<Value> = { readonly value: Value } | { readonly failure: unknown };

/** An attempt, which waits for promises. */
export interface Waiter {
  wait<Value>(promise: DoublePromise<Value>): Promise<Value>;
  sleep(ms: number): DoublePromise<void>;
}

/**
 * A promise like the SDK's: its outcome depends on the notifications to its attempt so far. Only an attempt that awaits
 * it gets more of them.
 */
export class DoublePromise<Value> implements PromiseLike<Value> {
  readonly waiter: Waiter;
  /** Starts the work of this process for it. */
  readonly begin: () => void;
  readonly #look: () => Outcome<Value> | null;
  #outcome: Outcome<Value> | null = null;

  constructor(waiter: Waiter, look: () => Outcome<Value> | null, begin: () => void = () => {}) {
    this.waiter = waiter;
    this.#look = look;
    this.begin = begin;
  }

  get outcome(): Outcome<Value> | null {
    this.#outcome ??= this.#look();
    return this.#outcome;
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it stands in for a promise of the SDK, which is one
  then<Done = Value, Failed = never>(
    done?: ((value: Value) => Done | PromiseLike<Done>) | null,
    failed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    // oxlint-disable-next-line promise/no-callback-in-promise -- as above
    return this.waiter.wait(this).then(done, failed);
  }

  catch<Failed>(failed: (reason: unknown) => Failed | PromiseLike<Failed>): Promise<Value | Failed> {
    return this.waiter.wait(this).catch(failed);
  }

  map<Mapped>(mapper: (value: Value | undefined, failure: unknown) => Mapped): DoublePromise<Mapped> {
    const look = (): Outcome<Mapped> | null => {
      const inner = this.outcome;
      if (inner === null) return null;
      try {
        return { value: "failure" in inner ? mapper(undefined, inner.failure) : mapper(inner.value, undefined) };
      } catch (failure) {
        if (failure instanceof TerminalError) return { failure };
        throw failure;
      }
    };
    return new DoublePromise(this.waiter, look, this.begin);
  }

  orTimeout(ms: number): DoublePromise<Value> {
    const sleep = this.waiter.sleep(ms);
    const look = (): Outcome<Value> | null =>
      this.outcome ?? (sleep.outcome === null ? null : { failure: new TimeoutError() });
    return new DoublePromise(this.waiter, look, this.begin);
  }
}

const doublesIn = (promises: readonly unknown[]): readonly DoublePromise<unknown>[] | null => {
  const doubles = promises.filter((promise) => promise instanceof DoublePromise);
  return doubles.length > 0 && doubles.length === promises.length ? doubles : null;
};

const raced =
  (doubles: readonly DoublePromise<unknown>[]): (() => Outcome<unknown> | null) =>
  () =>
    doubles.find(({ outcome }) => outcome !== null)?.outcome ?? null;

const together =
  (doubles: readonly DoublePromise<unknown>[]): (() => Outcome<unknown> | null) =>
  () => {
    const outcomes = doubles.map(({ outcome }) => outcome);
    const failed = outcomes.find((outcome) => outcome !== null && "failure" in outcome);
    if (failed !== undefined) return failed;
    const values = outcomes.flatMap((outcome) => (outcome !== null && "value" in outcome ? [outcome.value] : []));
    return values.length === outcomes.length ? { value: values } : null;
  };

/** Lets the SDK's combinators, which refuse foreign promises, take doubles. Returns a function that ends this. */
export const combineDoubles = (): (() => void) => {
  const own = { ...RestatePromise };
  type Combine = (promises: readonly RestatePromise<unknown>[]) => unknown;
  const taking =
    (combine: Combine, look: typeof raced): Combine =>
    (promises) => {
      const doubles = doublesIn(promises);
      const [first] = doubles ?? [];
      if (doubles === null || first === undefined) return combine(promises);
      return new DoublePromise(first.waiter, look(doubles), () => {
        for (const { begin } of doubles) begin();
      });
    };
  Object.assign(RestatePromise, {
    all: taking((promises) => own.all(promises), together),
    race: taking((promises) => own.race(promises), raced),
  });
  return () => void Object.assign(RestatePromise, own);
};
