import type { Clock } from "@colloquy/host";

/**
 * The platform's clock. However far away `dueAt` is, the callback comes at that time, and never earlier by `now()`.
 * After the computer was suspended or its time was corrected, it comes at most a minute late. Browsers fire the timers
 * of a hidden tab once a second, and after five minutes once a minute.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  wakeAt: (dueAt, callback) => {
    if (Number.isNaN(dueAt)) throw new RangeError("wakeAt: dueAt is NaN; give milliseconds since the epoch");
    let timer: Timer | undefined;
    const sleep = (): void => {
      timer = setTimeout(wake, Math.min(Math.max(dueAt - Date.now(), 0), longestSleepMs));
    };
    const wake = (): void => {
      if (Date.now() < dueAt) sleep();
      else callback();
    };
    sleep();
    return () => clearTimeout(timer);
  },
};

/** A number in browsers, another type elsewhere. */
type Timer = ReturnType<typeof setTimeout>;

/**
 * `setTimeout` counts only the time while the computer is awake, and turns more than 2^31 ms into 1. So a long wait
 * consists of short ones, and the time is checked between them.
 */
const longestSleepMs = 60_000;
