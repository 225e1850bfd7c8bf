import type { Clock, Inbox, Lease, Store, StoredSnapshot } from "@colloquy/host";
import type { Entry } from "@colloquy/machine";

import { type Fuse, never } from "./fuse.ts";
import type { Pace } from "./pace.ts";

/** A clock that wakes nobody who is dead. */
export const doomedClock = ({ clock }: Pace, fuse: Fuse): Clock => ({
  now: () => clock.now(),
  wakeAt: (dueAt, callback) =>
    clock.wakeAt(dueAt, () => {
      if (fuse.alive) callback();
    }),
});

/** A store as a process sees it that dies around an append: nothing of it reaches the store after that, or comes back. */
export const doomedStore = (
  store: Store,
  pace: Pace,
  fuse: Fuse,
  acknowledged: (entries: readonly Entry[]) => void,
): Store => {
  const living: Living = async (call) => {
    if (!fuse.alive) return never();
    const value = await pace.outside(call);
    return fuse.alive ? value : never();
  };
  const append = async (lease: Lease, expectedSeq: number, entries: readonly Entry[]): Promise<void> => {
    const what = `append ${entries.map(({ event }) => event.type).join(", ")}`;
    if (!fuse.passes("before", what)) return never();
    await pace.outside(async () => store.append(lease, expectedSeq, entries));
    if (!fuse.passes("after", what)) return never();
    acknowledged(entries);
  };
  return {
    acquire: (...given) => living(() => store.acquire(...given)),
    renew: (...given) => living(() => store.renew(...given)),
    release: (...given) => living(() => store.release(...given)),
    append,
    read: (...given) => living(() => store.read(...given)),
    rewrite: (...given) => living(() => store.rewrite(...given)),
    saveSnapshot: (...given) => living(() => store.saveSnapshot(...given)),
    readSnapshot: async (...given) => doomedSnapshot(await living(() => store.readSnapshot(...given)), living),
    list: (...given) => living(() => store.list(...given)),
    delete: (...given) => living(() => store.delete(...given)),
    close: async () => undefined,
    ...(store.inbox === undefined ? {} : { inbox: doomedInbox(store.inbox, living) }),
  };
};

/** Calls something outside, if the process lives; and comes back, if it lives still. */
type Living = <Value>(call: () => Promise<Value>) => Promise<Value>;

const doomedSnapshot = (snapshot: StoredSnapshot | null, living: Living): StoredSnapshot | null =>
  snapshot?.fetch === undefined
    ? snapshot
    : { ...snapshot, fetch: (chunk) => living(async () => snapshot.fetch?.(chunk)) };

const doomedInbox = (inbox: Inbox, living: Living): Inbox => ({
  post: (...given) => living(() => inbox.post(...given)),
  unanswered: (...given) => living(() => inbox.unanswered(...given)),
  answer: (...given) => living(() => inbox.answer(...given)),
  answerTo: (...given) => living(() => inbox.answerTo(...given)),
  discard: (...given) => living(() => inbox.discard(...given)),
});
