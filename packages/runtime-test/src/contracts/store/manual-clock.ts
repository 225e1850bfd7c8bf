import type { Clock } from "@colloquy/host";

/** A clock that stands still until somebody moves it. */
export interface ManualClock extends Clock {
  /** Moves the time on by so many milliseconds, and calls back, in order, whoever had to be woken by then. */
  advance(ms: number): void;
}

/** A clock that begins at `now`, in milliseconds since the epoch. */
export const manualClock = (now: number = Date.UTC(2026, 0, 1)): ManualClock => {
  let time = now;
  const sleepers = new Set<{ readonly dueAt: number; readonly callback: () => void }>();
  return {
    now: () => time,
    wakeAt: (dueAt, callback) => {
      const sleeper = { dueAt, callback };
      sleepers.add(sleeper);
      return () => void sleepers.delete(sleeper);
    },
    advance: (ms) => {
      const end = time + ms;
      for (;;) {
        const due = [...sleepers].filter(({ dueAt }) => dueAt <= end).sort((one, other) => one.dueAt - other.dueAt);
        const next = due[0];
        if (next === undefined) break;
        sleepers.delete(next);
        time = Math.max(time, next.dueAt);
        next.callback();
      }
      time = end;
    },
  };
};
