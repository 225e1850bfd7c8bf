import type { Clock } from "@colloquy/host";

/**
 * The computer's own time. However far `dueAt` lies, the callback comes then, never earlier by `now()`; after a
 * suspension of the computer or a correction of its time it comes at most a minute late.
 *
 * A timer that is neither due nor cancelled keeps the process alive: a program that awaits an answer must not see the
 * process end while a retry is waited for. One in the background does not.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  wakeAt: (dueAt, callback, kind) => {
    if (Number.isNaN(dueAt)) throw new RangeError("wakeAt: dueAt is NaN; give milliseconds since the epoch");
    let timer: NodeJS.Timeout | undefined;
    let immediate: NodeJS.Immediate | undefined;
    const sleep = (): void => {
      const ms = dueAt - Date.now();
      // A timeout of 0 takes 1 ms, which each turn of a long queue would wait.
      if (ms > 0) timer = setTimeout(wake, Math.min(ms, longestSleepMs));
      else immediate = setImmediate(wake);
      if (kind !== "background") return;
      timer?.unref();
      immediate?.unref();
    };
    const wake = (): void => {
      if (Date.now() < dueAt) sleep();
      else callback();
    };
    sleep();
    return () => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
  },
};

/**
 * `setTimeout` counts what runs while the computer is awake, and turns more than 2^31 ms into 1. So a long wait is
 * made of short ones, with a look at the time between them.
 */
const longestSleepMs = 60_000;
