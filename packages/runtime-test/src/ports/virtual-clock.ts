import { setImmediate as nextMacrotask } from "node:timers/promises";
import type { Clock, Ids } from "@colloquy/host";
import { createWheel } from "./wheel.ts";

/**
 * A clock whose time passes only when it is moved. Wake-ups run in the order of their due time; those due at the same
 * time run in the order of their registration. After each wake-up, everything that it started settles before the next
 * one. So the same calls give the same order each time.
 *
 * "Settles" means that all promises have run until they wait for something else. The clock does not wait for outside
 * work (a socket, a file); use a real clock there, or a running one.
 */
export interface VirtualClock extends Clock {
  /** Lets `ms` whole milliseconds pass, and runs all wake-ups that are due by then, new ones included. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until `at` (milliseconds since the epoch). Throws a RangeError if `at` is in the past. */
  advanceTo(at: number): Promise<void>;
  /** Jumps to the next wake-up and runs it. Returns false if there is none. */
  step(): Promise<boolean>;
  /** Jumps from wake-up to wake-up until none is left but those in the background. Throws after `wakeUpsMax` (default 100,000): something winds itself up for ever. */
  runUntilIdle(wakeUpsMax?: number): Promise<void>;
  /**
   * Jumps from wake-up to wake-up until the promise is settled, and returns its value. Waits forever if nothing settles
   * it.
   */
  runUntil<Value>(promise: PromiseLike<Value>): Promise<Value>;
  /** The due times of the pending wake-ups, earliest first. */
  pending(): readonly number[];
}

/**
 * Makes a clock whose time passes only when it is moved. `startAt` is in milliseconds since the epoch; default
 * 2026-01-01.
 */
export const virtualClock = (startAt: number = defaultStart): VirtualClock => {
  const wheel = createWheel(startAt);

  const advanceTo = async (at: number): Promise<void> => {
    if (!(at >= wheel.now())) {
      throw new RangeError(`can't go to ${at}: it is ${wheel.now()} already, and time does not run backwards`);
    }
    await settle();
    for (let due = wheel.nextDue(); due !== undefined && due <= at; due = wheel.nextDue()) {
      wheel.fireNext();
      await settle();
    }
    wheel.moveTo(at);
  };

  const step = async (): Promise<boolean> => {
    await settle();
    const fired = wheel.fireNext();
    await settle();
    return fired;
  };

  return {
    now: wheel.now,
    wakeAt: wheel.wakeAt,
    pending: wheel.pending,
    advanceTo,
    advance: async (ms) => {
      if (!(ms >= 0)) throw new RangeError(`can't advance by ${ms} ms: time does not run backwards`);
      await advanceTo(wheel.now() + ms);
    },
    step,
    runUntilIdle: async (wakeUpsMax = 100_000) => {
      await settle();
      for (let wakeUps = 0; wheel.hasReasonToMove(); wakeUps++) {
        await step();
        if (wakeUps < wakeUpsMax) continue;
        throw new Error(
          `still not idle after ${wakeUpsMax} wake-ups, now ${wheel.now()}: something asks for a new one each time it is woken; use advance()`,
        );
      }
    },
    runUntil: async (promise) => {
      let settled = false;
      const outcome = Promise.resolve(promise).finally(() => (settled = true));
      // The caller receives a rejection below; it must not count as unhandled while the clock still runs.
      outcome.catch(() => undefined);
      await settle();
      while (!settled) {
        if (wheel.fireNext()) await settle();
        else await Promise.race([outcome.catch(() => undefined), wheel.whenAsked()]);
      }
      return outcome;
    },
  };
};

/**
 * Makes a clock that runs by itself: when everything has settled, it jumps to the next wake-up. So delays keep their
 * order and take no time. `startAt` as for `virtualClock`.
 */
export const runningClock = (startAt: number = defaultStart): Clock => {
  const wheel = createWheel(startAt);
  let running = false;
  const run = async (): Promise<void> => {
    running = true;
    try {
      await settle();
      // Time does not pass for what waits in the background alone.
      while (wheel.hasReasonToMove() && wheel.fireNext()) await settle();
    } finally {
      running = false;
    }
  };
  return {
    now: wheel.now,
    wakeAt: (dueAt, callback, kind) => {
      const cancel = wheel.wakeAt(dueAt, callback, kind);
      if (!running) void run();
      return cancel;
    },
  };
};

/** 2026-01-01T00:00:00Z. */
const defaultStart = 1_767_225_600_000;

/** Lets all promises run: a turn of the event loop begins only when no microtask is left. */
const settle = async (): Promise<void> => {
  await nextMacrotask();
};

/**
 * Makes numbered ids: `thread-1`, `ask-1`, `ask-2`, …, numbered separately for each kind. A repeated run gives the same
 * ids.
 */
export const sequentialIds = (): Ids => {
  const drawn = new Map<string, number>();
  return {
    draw: (kind) => {
      const number = (drawn.get(kind) ?? 0) + 1;
      drawn.set(kind, number);
      return `${kind}-${number}`;
    },
  };
};
