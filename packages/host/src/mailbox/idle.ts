import type { State } from "@colloquy/machine";
import { waitsOutside } from "@colloquy/machine/hosting";
import type { Clock } from "../ports/clock.ts";

/**
 * Returns whether a thread has nothing to do until something new is asked. Either no turn is open or about to be, or
 * the open one only waits for approvals and results of the caller's tools. These waits are in the state, and may take
 * days.
 */
export const isIdle = (state: State): boolean => {
  const { open, queue } = state.context;
  return open === null ? queue.length === 0 : open.deadlineAt === null && waitsOutside(state);
};

/** Waits until nothing has happened for a while. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #isIdle: () => boolean;
  readonly #onDue: () => void;
  #since = 0;
  #cancel: (() => void) | null = null;

  constructor(
    { clock, idleMs }: { readonly clock: Clock; readonly idleMs: number },
    isIdle: () => boolean,
    onDue: () => void,
  ) {
    this.#clock = clock;
    this.#idleMs = idleMs;
    this.#isIdle = isIdle;
    this.#onDue = onDue;
  }

  /** Starts the wait after something was done, which may have been the last thing. One timer serves all of them. */
  begin(): void {
    if (!this.#isIdle()) return;
    this.#since = this.#clock.now();
    if (this.#cancel === null) this.#wakeAt(this.#since + this.#idleMs);
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #wakeAt(dueAt: number): void {
    this.#cancel = this.#clock.wakeAt(dueAt, () => {
      this.#cancel = null;
      if (!this.#isIdle()) return;
      const due = this.#since + this.#idleMs;
      if (due <= this.#clock.now()) this.#onDue();
      else this.#wakeAt(due);
    });
  }
}
