import { setImmediate as nextMacrotask } from "node:timers/promises";

import { type VirtualClock, virtualClock } from "@colloquy/runtime-test";

/** Virtual time beside real files and sockets: it stands still while one of them is waited for. */
export class Pace {
  readonly clock: VirtualClock = virtualClock();
  #under = 0;
  #idle: PromiseWithResolvers<void> | null = null;

  /** Waits for something outside. */
  async outside<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#under += 1;
    try {
      return await work();
    } finally {
      this.#under -= 1;
      if (this.#under === 0) {
        this.#idle?.resolve();
        this.#idle = null;
      }
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.clock.wakeAt(this.clock.now() + ms, resolve));
  }

  /** Lets time pass until the promise is settled. @throws where that takes longer than a day of virtual time */
  async run<Value>(promise: Promise<Value>): Promise<Value> {
    let settled = false;
    const outcome = promise.finally(() => (settled = true));
    // The caller sees a rejection below; it must not count as unhandled while time still passes.
    outcome.catch(() => undefined);
    const end = this.clock.now() + dayMs;
    while (!settled) {
      await nextMacrotask();
      if (this.#under > 0) {
        this.#idle ??= Promise.withResolvers();
        await this.#idle.promise;
      } else if (!settled) await this.clock.step();
      if (this.clock.now() > end) throw new Error("after a day of virtual time it is still not at an end");
    }
    return outcome;
  }
}

const dayMs = 86_400_000;
