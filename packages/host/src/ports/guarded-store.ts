import type { Entry } from "@colloquy/machine";
import { StoreError, StoreTimeoutError } from "../boundary/errors.ts";
import type { Clock } from "./clock.ts";
import {
  type Engine,
  type Inbox,
  type Lease,
  LeaseLostError,
  type PartLog,
  SequenceConflictError,
  type Store,
  type StoredSnapshot,
} from "./store.ts";

/** The time limits of a store. */
export interface StoreTimes {
  readonly clock: Clock;
  /** For one call, in milliseconds; ten times as long for one that may read everything that is stored. */
  readonly timeoutMs: number;
  /** For renewing a lease, in milliseconds: a retry must be possible before it expires. */
  readonly renewMs: number;
}

/**
 * Returns the same store as a host calls it. A call that is not answered in time has failed; it may still be executed,
 * then or later. A lease that arrives too late is let run out. A failure about a thread is a `StoreError` that names the
 * failed task. A store is foreign code, so leases and lists that are none are failures too.
 */
export const guardedStore = (store: Store, { clock, timeoutMs, renewMs }: StoreTimes): Store => {
  const timed: Timed = (call, work, ms = timeoutMs) => inTime(clock, ms, call, work);
  const about: About = (threadId, doing, call, work, ms = timeoutMs) =>
    inTime(clock, ms, call, work, (thrown) => storeErrorOf(threadId, doing, thrown));
  const long = longTimes * timeoutMs;
  const { inbox, parts, engine } = store;
  return {
    acquire: (...given) => {
      let isLate = false;
      const acquire = async (): Promise<Lease | null> => {
        const lease = leaseIn(await store.acquire(...given));
        if (lease !== null && isLate) await store.renew(lease, 0);
        return lease;
      };
      return inTime(clock, timeoutMs, "acquire", acquire, (thrown) => {
        isLate = thrown instanceof StoreTimeoutError;
        return storeErrorOf(given[0], "acquire its lease", thrown);
      });
    },
    renew: (lease, ttlMs) => about(lease.threadId, "renew a lease", "renew", () => store.renew(lease, ttlMs), renewMs),
    release: (lease) => about(lease.threadId, "release a lease", "release", () => store.release(lease)),
    abandoned: () => timed("abandoned", async () => idsIn(await store.abandoned())),
    append: (lease, expectedSeq, entries) => {
      let appending: void | Promise<void>;
      try {
        appending = store.append(lease, expectedSeq, entries);
      } catch (thrown) {
        throw notAppended(lease, entries, thrown);
      }
      // A call that has finished when it returns needs no timer.
      if (appending === undefined) return undefined;
      const appended = async (): Promise<void> => appending;
      return inTime(clock, timeoutMs, "append", appended, (thrown) => notAppended(lease, entries, thrown));
    },
    read: (threadId, fromSeq) =>
      about(threadId, "read the journal", "read", async () => listIn(await store.read(threadId, fromSeq), "entries")),
    rewrite: (lease, entries) =>
      about(lease.threadId, "redact its journal", "rewrite", () => store.rewrite(lease, entries), long),
    saveSnapshot: (...given) => timed("saveSnapshot", () => store.saveSnapshot(...given)),
    readSnapshot: async (...given) => withFetch(await timed("readSnapshot", () => store.readSnapshot(...given)), timed),
    list: (...given) => timed("list", () => store.list(...given), long),
    delete: (threadId, lease) => about(threadId, "delete it", "delete", () => store.delete(threadId, lease), long),
    close: () => store.close(),
    ...searchOf(store, timed, long),
    ...(inbox === undefined ? {} : { inbox: inboxOf(inbox, about, timed) }),
    ...(parts === undefined ? {} : { parts: partLogOf(parts, timed, about) }),
    ...(engine === undefined ? {} : { engine: engineOf(engine, about) }),
  };
};

/** Rewriting a file, or building an index, takes longer in a larger store, and no answer waits for it. */
const longTimes = 10;

/**
 * Returns the result of foreign code. If that takes longer, it has failed with a `StoreTimeoutError`. A host waits like
 * this for each call of its store, several for opening a thread. So it makes few promises: `then` and `finally` would
 * make one each.
 *
 * @param errorOf returns the error to reject with
 */
export const inTime = <Answer>(
  clock: Clock,
  ms: number,
  call: string,
  work: () => Promise<Answer>,
  errorOf: (thrown: unknown) => unknown = (thrown) => thrown,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const cancel = clock.wakeAt(clock.now() + ms, () => reject(errorOf(new StoreTimeoutError(call, ms))));
    const settle = async (): Promise<void> => {
      try {
        resolve(await work());
      } catch (thrown) {
        reject(errorOf(thrown));
      } finally {
        cancel();
      }
    };
    void settle();
  });

/** Returns the error of a failed call. A lost lease or a conflict stays as it is. */
const storeErrorOf = (threadId: string, doing: string, thrown: unknown): Error =>
  thrown instanceof StoreError || thrown instanceof LeaseLostError || thrown instanceof SequenceConflictError
    ? thrown
    : new StoreError(threadId, doing, thrown);

type Timed = <Answer>(call: string, work: () => Promise<Answer>, ms?: number) => Promise<Answer>;

/** Makes a call about a thread. `doing` names its task in the error. */
type About = <Answer>(
  threadId: string,
  doing: string,
  call: string,
  work: () => Promise<Answer>,
  ms?: number,
) => Promise<Answer>;

const notAppended = ({ threadId }: Lease, { length }: readonly Entry[], thrown: unknown): Error =>
  storeErrorOf(threadId, length > 1 ? "append entries" : "append an entry", thrown);

const leaseIn = (given: unknown): Lease | null => {
  if (given === null || isLease(given)) return given;
  const words = given === undefined ? "nothing" : `what is no lease (${typeof given})`;
  throw new TypeError(`it gave ${words} in place of a lease, or of null while another owner has it`);
};

const isLease = (value: unknown): value is Lease =>
  typeof value === "object" && value !== null && "threadId" in value && "token" in value;

const listIn = (given: unknown, of: string): readonly unknown[] => {
  if (Array.isArray(given)) return given as readonly unknown[];
  throw new TypeError(`it gave ${given === null ? "null" : typeof given}, not a list of ${of}`);
};

const idsIn = (given: unknown): readonly string[] => listIn(given, "threads").filter((id) => typeof id === "string");

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

const inboxOf = (inbox: Inbox, about: About, timed: Timed): Inbox => ({
  post: (threadId, item) => about(threadId, "leave an inbox item", "inbox.post", () => inbox.post(threadId, item)),
  unanswered: (threadId) =>
    about(threadId, "look into its inbox", "inbox.unanswered", async () =>
      listIn(await inbox.unanswered(threadId), "inbox items"),
    ),
  waiting: () => timed("inbox.waiting", async () => idsIn(await inbox.waiting())),
  answer: (lease, answers) =>
    about(lease.threadId, "answer inbox items", "inbox.answer", () => inbox.answer(lease, answers)),
  answerTo: (threadId, id) =>
    about(threadId, "look for an answer", "inbox.answerTo", () => inbox.answerTo(threadId, id)),
  discard: (threadId, id) =>
    about(threadId, "discard an inbox item", "inbox.discard", () => inbox.discard(threadId, id)),
});

const partLogOf = (parts: PartLog, timed: Timed, about: About): PartLog => ({
  append: (...given) => timed("parts.append", () => parts.append(...given)),
  read: (threadId, range) => about(threadId, "read what was shown", "parts.read", () => parts.read(threadId, range)),
});

const engineOf = (engine: Engine, about: About): Engine => ({
  send: (threadId, id, event) =>
    about(threadId, "leave an inbox item", "engine.send", () => engine.send(threadId, id, event)),
  ...(engine.follow === undefined ? {} : { follow: engine.follow.bind(engine) }),
});
