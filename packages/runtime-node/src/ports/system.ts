// What only the system can give: the time, chance, and files.
import type { Clock, Ids } from "@colloquy/host";

/**
 * The system clock. A callback never comes before `dueAt`, measured by `now()`, however far off it is. After the
 * computer was suspended or its time was corrected, it comes at most a minute late.
 *
 * A timer that is neither due nor cancelled keeps the process alive, so that the process does not end while an answer
 * waits for a retry. A background timer does not.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  wakeAt: (dueAt, callback, kind) => {
    if (Number.isNaN(dueAt)) throw new RangeError("wakeAt: dueAt is NaN; give milliseconds since the epoch");
    let timer: NodeJS.Timeout | undefined;
    let immediate: NodeJS.Immediate | undefined;
    const sleep = (): void => {
      const ms = dueAt - Date.now();
      // A timeout of 0 takes 1 ms, which would delay every turn of a long queue.
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

/** `setTimeout` does not count while the computer is suspended, and treats more than 2^31 ms as 1 ms. */
const longestSleepMs = 60_000;

/**
 * Random ids of 128 bits with the kind of thing they name: `thread-…`, `ask-…`, `owner-…`. They are short, since a
 * journal repeats them.
 */
export const randomIds: Ids = {
  draw: (kind) => `${kind}-${nextBytes()}`,
};

/** Random bytes drawn in advance: a call for a few bytes costs as much as one for many. */
let pool = Buffer.alloc(0);

const nextBytes = (): string => {
  // The global one: an import of node:crypto takes a tenth of ours.
  if (pool.length === 0) pool = crypto.getRandomValues(Buffer.allocUnsafe(256 * bytesEach));
  const bytes = pool.subarray(0, bytesEach);
  pool = pool.subarray(bytesEach);
  return bytes.toString("base64url");
};

const bytesEach = 16;

/**
 * The file system of Node. Importing `node:fs` as a module reads its `promises`, which load streams and `readline`: that
 * took a third of the time of importing this package, beyond that of the host.
 */
export const fs: typeof import("node:fs") = process.getBuiltinModule("node:fs");

/** Returns the SQLite of Node, which is loaded with the first store that needs it. */
export const sqlite = (): typeof import("node:sqlite") => process.getBuiltinModule("node:sqlite");
