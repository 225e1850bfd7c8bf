// A store of one's own, as small as can be: docs/own-store.md shows it, and store.long.test.ts checks it.
import type { Clock, Store, StoredThread } from "@colloquy/host";
import {
  checkTtl,
  factsOf,
  type Lease,
  LeaseLostError,
  noSuchEntry,
  pageOfThreads,
  refuseGaps,
  SequenceConflictError,
} from "@colloquy/host/store";
import type { Entry } from "@colloquy/machine";

/** Makes a store over maps, which stand in for a database. */
export const mapStore = (clock: Pick<Clock, "now">): Store => {
  const threads = new Map<string, Kept>();
  const snapshots = new Map<string, { readonly head: string; readonly chunks: ReadonlyMap<string, string> }>();
  const { check, end, ...leases } = leasesBy(clock);

  const keep = (threadId: string, entries: readonly Entry[]): void => {
    const facts = { createdAt: 0, metadata: {}, updatedAt: 0, ...factsOf(entries) };
    const texts = entries.map((entry) => JSON.stringify(entry));
    threads.set(threadId, { threadId, seq: entries.length - 1, ...facts, texts });
  };

  return {
    ...leases,
    append: async (lease, expectedSeq, entries) => {
      check(lease);
      const { threadId } = lease;
      const before = entriesOf(threads.get(threadId));
      const newest = before.length - 1;
      if (newest !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, newest);
      refuseGaps(threadId, expectedSeq, entries);
      if (entries.length > 0) keep(threadId, [...before, ...entries]);
    },
    read: async (threadId, fromSeq = 0) => entriesOf(threads.get(threadId)).slice(Math.max(fromSeq, 0)),
    rewrite: async (lease, entries) => {
      check(lease);
      const { threadId } = lease;
      const rewritten = [...entriesOf(threads.get(threadId))];
      for (const entry of entries) {
        if (rewritten[entry.seq] === undefined) throw noSuchEntry(threadId, entry.seq);
        rewritten[entry.seq] = entry;
      }
      keep(threadId, rewritten);
      snapshots.delete(threadId);
    },
    saveSnapshot: async (lease, { head, chunks, dropped }) => {
      check(lease);
      const kept = new Map([...(snapshots.get(lease.threadId)?.chunks ?? []), ...chunks]);
      for (const id of dropped) kept.delete(id);
      snapshots.set(lease.threadId, { head, chunks: kept });
    },
    readSnapshot: async (threadId) => {
      const found = snapshots.get(threadId);
      return found === undefined ? null : { head: found.head, chunk: (id) => found.chunks.get(id) };
    },
    list: async (options) => pageOfThreads(() => [...threads.values()].map(({ texts: _, ...facts }) => facts), options),
    delete: async (threadId, lease) => {
      if (lease !== undefined) check(lease);
      end(threadId);
      snapshots.delete(threadId);
      return threads.delete(threadId);
    },
    close: async () => {},
  };
};

/** A thread as this store keeps it: entries as JSON text, and the facts that listings need. */
interface Kept extends StoredThread {
  readonly texts: readonly string[];
}

/** Cast: only this store writes these texts. */
const entriesOf = (kept: Kept | undefined): readonly Entry[] =>
  (kept?.texts ?? []).map((text) => JSON.parse(text) as Entry);

/** Makes the leases of a store. `check` throws for one that is not in force, `end` ends that of a thread. */
const leasesBy = (clock: Pick<Clock, "now">) => {
  const newestOf = new Map<string, Lease & { readonly until: number }>();
  const leases: Pick<Store, "acquire" | "renew" | "release" | "abandoned"> = {
    acquire: async (threadId, owner, ttlMs) => {
      checkTtl(ttlMs);
      const newest = newestOf.get(threadId);
      if (newest !== undefined && newest.owner !== owner && newest.until > clock.now()) return null;
      const lease = { threadId, owner, token: (newest?.token ?? 0) + 1 };
      newestOf.set(threadId, { ...lease, until: clock.now() + ttlMs });
      return lease;
    },
    renew: async ({ threadId, token }, ttlMs) => {
      checkTtl(ttlMs);
      const newest = newestOf.get(threadId);
      if (newest?.token !== token || newest.until === ended) return false;
      newestOf.set(threadId, { ...newest, until: clock.now() + ttlMs });
      return true;
    },
    release: async ({ threadId, token }) => {
      if (newestOf.get(threadId)?.token === token) end(threadId);
    },
    abandoned: async () =>
      [...newestOf.values()]
        .filter(({ until }) => until !== ended && until <= clock.now())
        .map(({ threadId }) => threadId),
  };
  const check = (lease: Lease): void => {
    const newest = newestOf.get(lease.threadId);
    if (newest?.token !== lease.token || newest.until <= clock.now()) throw new LeaseLostError(lease);
  };
  /** The token stays known: the next one is greater. */
  const end = (threadId: string): void => {
    const newest = newestOf.get(threadId);
    if (newest !== undefined) newestOf.set(threadId, { ...newest, until: ended });
  };
  return { ...leases, check, end };
};

const ended = -1;
