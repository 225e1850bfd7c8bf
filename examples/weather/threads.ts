import type { Store } from "@colloquy/host";

/** Returns the newest of the threads `weather`, `weather-2`, `weather-3`, …; `weather` if there is none. */
export const newestThread = async (store: Store): Promise<string> => threadNumbered(Math.max(1, await newest(store)));

/** Returns the thread after it, which does not exist yet. */
export const nextThread = async (store: Store): Promise<string> => threadNumbered((await newest(store)) + 1);

const newest = async (store: Store): Promise<number> => {
  let newest = 0;
  for (let after: string | null | undefined; after !== null;) {
    const page = await store.list(after === undefined ? {} : { after });
    newest = Math.max(newest, ...page.threads.map(({ threadId }) => numberOf(threadId)));
    after = page.next;
  }
  return newest;
};

const threadNumbered = (number: number): string => (number === 1 ? "weather" : `weather-${number}`);

const numberOf = (threadId: string): number =>
  threadId === "weather" ? 1 : Number(/^weather-(\d+)$/.exec(threadId)?.[1] ?? 0);
