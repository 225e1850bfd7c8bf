import { ConfigurationError } from "@colloquy/machine";

import { StorageError } from "@colloquy/host/store";

/** The answer of a server, which may be gone without a word; `Infinity` waits for ever. Throws a `StorageError` of kind `unreachable` when it is late. */
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

/** Runs work at the first call, and at the next one again where it failed. */
export const untilDone = (work: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | null = null;
  return () =>
    (done ??= work().catch((error: unknown) => {
      done = null;
      throw error;
    }));
};

/** @throws ConfigurationError for a time that no timer keeps */
export const checkTimeout = (what: string, timeoutMs: number): void => {
  if (!(timeoutMs > 0 && timeoutMs <= 2 ** 31 - 1))
    throw new ConfigurationError(`${what}: timeoutMs is ${timeoutMs}; give milliseconds, more than 0`);
};

/**
 * How long a lease lasts in a store on a server, which does not know whether its holder lives. So it is short: nobody waits for
 * a dead holder for longer. A living one renews it three times as often.
 */
export const serverLeaseTtlMs = 4_000;
