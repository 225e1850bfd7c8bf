import type { Clock } from "@colloquy/host";
import { createWheel } from "../../ports/wheel.ts";

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves the time on by so many milliseconds, and at once calls back, in order, what is due by then. */
  advance(ms: number): void;
}

/** A clock that begins at `now`, in milliseconds since the epoch. */
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
