import { StoreTimeoutError } from "../boundary/errors.ts";
import type { Clock } from "./clock.ts";
import type { Engine, Inbox, PartLog, Store, StoredSnapshot } from "./store.ts";

/** The time limits of a store. */
export interface StoreTimes {
  readonly clock: Clock;
  /** For one call, in milliseconds; ten times as long for one that may read everything that is stored. */
  readonly timeoutMs: number;
  /** For renewing a lease, in milliseconds: a retry must be possible before it expires. */
  readonly renewMs: number;
}

/**
 * Returns the same store with a time limit on each call: one that is not answered in time fails with
 * `StoreTimeoutError`. It may still be executed, then or later. A lease that arrives too late is released.
 */
export const storeInTime = (store: Store, { clock, timeoutMs, renewMs }: StoreTimes): Store => {
  const timed: Timed = (call, answer, ms = timeoutMs) =>
    inTime(clock, ms, answer, () => new StoreTimeoutError(call, ms));
  const long = longTimes * timeoutMs;
  const { inbox, parts, engine } = store;
  return {
    acquire: (...given) => {
      let isLate = false;
      const acquire = async () => {
        const lease = await store.acquire(...given);
        if (lease !== null && isLate) await store.release(lease);
        return lease;
      };
      return inTime(clock, timeoutMs, acquire, () => {
        isLate = true;
        return new StoreTimeoutError("acquire", timeoutMs);
      });
    },
    renew: (...given) => timed("renew", () => store.renew(...given), renewMs),
    release: (...given) => timed("release", () => store.release(...given)),
    append: (...given) => {
      const appending = store.append(...given);
      // A call that has finished when it returns needs no timer.
      return appending === undefined ? undefined : timed("append", async () => appending);
    },
    read: (...given) => timed("read", () => store.read(...given)),
    rewrite: (...given) => timed("rewrite", () => store.rewrite(...given), long),
    saveSnapshot: (...given) => timed("saveSnapshot", () => store.saveSnapshot(...given)),
    readSnapshot: async (...given) => withFetch(await timed("readSnapshot", () => store.readSnapshot(...given)), timed),
    list: (...given) => timed("list", () => store.list(...given), long),
    delete: (...given) => timed("delete", () => store.delete(...given), long),
    close: () => store.close(),
    ...searchOf(store, timed, long),
    ...(inbox === undefined ? {} : { inbox: inboxOf(inbox, timed) }),
    ...(parts === undefined ? {} : { parts: partLogOf(parts, timed) }),
    ...(engine === undefined ? {} : { engine: engineOf(engine, timed) }),
  };
};

/**
 * Rewriting a file, or building an index at the first search, takes longer in a larger store, and no answer waits for
 * it.
 */
const longTimes = 10;

/**
 * Returns the result of foreign code. If that takes longer, rejects with the error of `late`. A host waits like this
 * for each call of its store, several for opening a thread. So it makes few promises: `then` and `finally` would make
 * one each.
 */
export const inTime = <Answer>(
  clock: Clock,
  ms: number,
  work: () => Promise<Answer>,
  late: () => Error,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const cancel = clock.wakeAt(clock.now() + ms, () => reject(late()));
    const settle = async (): Promise<void> => {
      try {
        resolve(await work());
      } catch (thrown) {
        reject(thrown);
      } finally {
        cancel();
      }
    };
    void settle();
  });

type Timed = <Answer>(call: string, answer: () => Promise<Answer>, ms?: number) => Promise<Answer>;

const withFetch = (stored: StoredSnapshot | null, timed: Timed): StoredSnapshot | null => {
  if (stored?.fetch === undefined) return stored;
  return {
    head: stored.head,
    chunk: (id) => stored.chunk(id),
    fetch: (chunk) => timed("fetch of its snapshot", async () => stored.fetch?.(chunk)),
  };
};

const searchOf = (store: Store, timed: Timed, ms: number): Pick<Store, "search"> => {
  if (store.search === undefined) return {};
  const search = store.search.bind(store);
  return { search: (...given) => timed("search", () => search(...given), ms) };
};

const inboxOf = (inbox: Inbox, timed: Timed): Inbox => ({
  post: (...given) => timed("inbox.post", () => inbox.post(...given)),
  unanswered: (...given) => timed("inbox.unanswered", () => inbox.unanswered(...given)),
  answer: (...given) => timed("inbox.answer", () => inbox.answer(...given)),
  answerTo: (...given) => timed("inbox.answerTo", () => inbox.answerTo(...given)),
  discard: (...given) => timed("inbox.discard", () => inbox.discard(...given)),
});

const partLogOf = (parts: PartLog, timed: Timed): PartLog => ({
  append: (...given) => timed("parts.append", () => parts.append(...given)),
  read: (...given) => timed("parts.read", () => parts.read(...given)),
});

const engineOf = (engine: Engine, timed: Timed): Engine => ({
  send: (...given) => timed("engine.send", () => engine.send(...given)),
  ...(engine.follow === undefined ? {} : { follow: engine.follow.bind(engine) }),
});
