import type { Clock } from "@colloquy/host";
import { createWheel } from "../../ports/wheel.ts";

/** A clock whose time changes only when a test advances it. */
export interface ManualClock extends Clock {
  /** Advances the time by `ms` milliseconds, and at once runs the callbacks that are due by then, in order. */
  advance(ms: number): void;
}

/** Makes a clock that begins at `now`, in milliseconds since the epoch. */
export const manualClock = (now: number = Date.UTC(2026, 0, 1)): ManualClock => {
  const wheel = createWheel(now);
  return {
    now: wheel.now,
    wakeAt: wheel.wakeAt,
    advance: (ms) => {
      const end = wheel.now() + ms;
      while ((wheel.nextDue() ?? Infinity) <= end) wheel.fireNext();
      wheel.moveTo(end);
    },
  };
};
