import type { Clock, ListOptions, Store, StoredThread } from "@colloquy/host";

/** The store to watch, and the interval. */
export interface Watching {
  readonly store: Store;
  readonly clock: Clock;
  readonly everyMs: number;
  readonly signal: AbortSignal;
}

/**
 * Yields the threads that changed, repeatedly, including changes by any other process. The first batch comes with the
 * first change after the start. If the store fails, it is asked again.
 */
export const changedThreads = async function* ({
  store,
  clock,
  everyMs,
  signal,
}: Watching): AsyncGenerator<readonly StoredThread[]> {
  const seen = new Map<string, number>();
  let since = clock.now() - skewMs;
  let isFirst = true;
  while (!signal.aborted) {
    const changed: StoredThread[] = [];
    for await (const thread of updatedSince(store, since)) {
      if (!isFirst && seen.get(thread.threadId) !== thread.seq) changed.push(thread);
      seen.set(thread.threadId, thread.seq);
      since = Math.max(since, Math.min(thread.updatedAt, clock.now()) - skewMs);
    }
    isFirst = false;
    if (changed.length > 0) yield changed;
    await pause(clock, everyMs, signal);
  }
};

/** The largest expected lag of other machines' clocks, in milliseconds. */
const skewMs = 60_000;

const updatedSince = async function* (store: Store, from: number): AsyncGenerator<StoredThread> {
  try {
    for (let options: ListOptions | null = { updated: { from } }; options !== null;) {
      const { threads, next } = await store.list(options);
      yield* threads;
      options = next === null ? null : { updated: { from }, after: next };
    }
  } catch {
    // Tried again at the next interval; the views of a thread report problems of the store.
  }
};

const pause = (clock: Clock, forMs: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const stop = clock.wakeAt(clock.now() + forMs, () => {
      signal.removeEventListener("abort", end);
      resolve();
    });
    const end = (): void => {
      stop();
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
  });
