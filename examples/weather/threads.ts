import type { Store, StoredThread } from "@colloquy/host";

/** The thread of the run without input. No other run continues it by itself. */
export const demonstration = "demonstration";

/** Returns the thread that was used last; `weather` if there is none. */
export const lastThread = async (store: Store): Promise<string> => {
  const threads = await threadsOf(store);
  const [last] = threads
    .filter(({ threadId }) => threadId !== demonstration)
    .toSorted((one, other) => other.updatedAt - one.updatedAt || numberOf(other) - numberOf(one));
  return last?.threadId ?? "weather";
};

/** Returns the first of the threads `weather`, `weather-2`, `weather-3`, … that comes after all of them. */
export const nextThread = async (store: Store): Promise<string> => {
  const newest = Math.max(0, ...(await threadsOf(store)).map(numberOf));
  return newest === 0 ? "weather" : `weather-${newest + 1}`;
};

const threadsOf = async (store: Store): Promise<readonly StoredThread[]> => {
  const threads: StoredThread[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const page = await store.list(after === undefined ? {} : { after });
    threads.push(...page.threads);
    after = page.next;
  }
  return threads;
};

const numberOf = ({ threadId }: StoredThread): number =>
  threadId === "weather" ? 1 : Number(/^weather-(\d+)$/.exec(threadId)?.[1] ?? 0);
