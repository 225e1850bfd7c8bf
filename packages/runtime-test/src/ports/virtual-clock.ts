import { setImmediate as nextMacrotask } from "node:timers/promises";
import type { Clock } from "@colloquy/host";
import { createWheel } from "./wheel.ts";

/**
 * A clock on which time passes only when it is moved. Wake-ups come in order of their due time, and in the
 * order in which they were asked for when they are due together; after each one everything that it set off
 * settles before the next, so the same calls give the same order each time.
 *
 * "Settles" means that all promises have run to where they wait for something else. What goes on outside (a
 * socket, a file) is not waited for: use a real clock there, or a running one.
 */
export interface VirtualClock extends Clock {
  /** Lets `ms` milliseconds pass, and all wake-ups that are due meanwhile come, new ones included. Whole, from 0. */
  advance(ms: number): Promise<void>;
  /** Lets time pass until `at` (milliseconds since the epoch). Throws a RangeError when that is in the past. */
  advanceTo(at: number): Promise<void>;
  /** Jumps to the next wake-up and lets it come. False when there is none. */
  step(): Promise<boolean>;
  /** Jumps from wake-up to wake-up until none is left but those in the background. Throws after `wakeUpsMax` (default 100,000): something winds itself up for ever. */
  runUntilIdle(wakeUpsMax?: number): Promise<void>;
  /** Jumps from wake-up to wake-up until the promise is settled, and gives what it gives. Waits for ever when nothing settles it. */
  runUntil<Value>(promise: PromiseLike<Value>): Promise<Value>;
  /** When the wake-ups that are still to come are due, earliest first. */
  pending(): readonly number[];
}

/** A clock that stands still until it is driven. `startAt` in milliseconds since the epoch; default 2026-01-01. */
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
      // The caller sees a rejection below; it must not count as unhandled while the clock still runs.
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
 * A clock that needs no driving: whenever all has settled it jumps to the next wake-up by itself. So delays
 * keep their order and take no time. `startAt` as for `virtualClock`.
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
