import { ConfigurationError } from "@colloquy/machine";

import { StorageError } from "@colloquy/host/store";

/**
 * Waits for the answer of a server, which may have died silently. `Infinity` waits for ever. Throws a `StorageError` of
 * kind `unreachable` after the timeout.
 */
export const answerInTime = async <A>(timeoutMs: number, answer: Promise<A>, store: string): Promise<A> => {
  if (timeoutMs === Infinity) return answer;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const advice = "look at the server and the network, and try again. Whether the last write arrived is not known";
    const message = `${store}: no answer within ${timeoutMs} ms; ${advice}.`;
    timer = setTimeout(() => reject(new StorageError("unreachable", message)), timeoutMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Runs work at the first call, and repeats it at the next call if it failed. */
export const untilDone = (work: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | null = null;
  return () =>
    (done ??= work().catch((error: unknown) => {
      done = null;
      throw error;
    }));
};

/** @throws ConfigurationError for a time that a timer cannot measure */
export const checkTimeout = (what: string, timeoutMs: number): void => {
  if (!(timeoutMs > 0 && timeoutMs <= 2 ** 31 - 1))
    throw new ConfigurationError(`${what}: timeoutMs is ${timeoutMs}; give milliseconds, more than 0`);
};

/**
 * The duration of a lease in a store on a server, which cannot tell whether the holder is alive. It is short, as it is
 * the longest wait for a dead holder. A live holder renews the lease three times in that time.
 */
export const serverLeaseTtlMs = 4_000;
