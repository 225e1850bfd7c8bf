import type { Clock } from "@colloquy/host";

/**
 * The platform's own time. However far `dueAt` lies, the callback comes then, never earlier by `now()`; after a suspension of
 * the computer or a correction of its time it comes at most a minute late. Browsers wake the timers of a hidden tab once a
 * second, and after five minutes once a minute.
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

/** A number in browsers, another thing elsewhere. */
type Timer = ReturnType<typeof setTimeout>;

/**
 * `setTimeout` counts what runs while the computer is awake, and turns more than 2^31 ms into 1. So a long wait is
 * made of short ones, with a look at the time between them.
 */
const longestSleepMs = 60_000;
