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

/** A thread as this store keeps it: entries as JSON text, and the facts that listings need. */
interface Kept extends StoredThread {
  readonly entries: readonly string[];
}

/** Makes a store over a map, which stands in for a database. */
export const mapStore = (clock: Pick<Clock, "now">, threads = new Map<string, Kept>()): Store => {
  const leases = new Map<string, Lease & { readonly until: number }>();
  const snapshots = new Map<string, { readonly head: string; readonly chunks: Map<string, string> }>();

  const check = (lease: Lease): void => {
    const newest = leases.get(lease.threadId);
    if (newest?.token !== lease.token || newest.until <= clock.now()) throw new LeaseLostError(lease);
  };

  const keep = (threadId: string, entries: readonly Entry[]): void => {
    const facts = { createdAt: 0, metadata: {}, updatedAt: 0, ...factsOf(entries) };
    threads.set(threadId, {
      threadId,
      seq: entries.length - 1,
      ...facts,
      entries: entries.map((e) => JSON.stringify(e)),
    });
  };

  // Cast: only this store writes these texts.
  const entriesOf = (threadId: string): readonly Entry[] =>
    (threads.get(threadId)?.entries ?? []).map((text) => JSON.parse(text) as Entry);

  return {
    acquire: async (threadId, owner, ttlMs) => {
      checkTtl(ttlMs);
      const newest = leases.get(threadId);
      if (newest !== undefined && newest.owner !== owner && newest.until > clock.now()) return null;
      const lease = { threadId, owner, token: (newest?.token ?? 0) + 1 };
      leases.set(threadId, { ...lease, until: clock.now() + ttlMs });
      return lease;
    },
    renew: async (lease, ttlMs) => {
      checkTtl(ttlMs);
      const newest = leases.get(lease.threadId);
      if (newest?.token !== lease.token || newest.until === released) return false;
      leases.set(lease.threadId, { ...newest, until: clock.now() + ttlMs });
      return true;
    },
    release: async (lease) => {
      const newest = leases.get(lease.threadId);
      if (newest?.token === lease.token) leases.set(lease.threadId, { ...newest, until: released });
    },
    append: async (lease, expectedSeq, entries) => {
      check(lease);
      const { threadId } = lease;
      const before = entriesOf(threadId);
      const newest = before.length - 1;
      if (newest !== expectedSeq) throw new SequenceConflictError(threadId, expectedSeq, newest);
      refuseGaps(threadId, expectedSeq, entries);
      if (entries.length > 0) keep(threadId, [...before, ...entries]);
    },
    read: async (threadId, fromSeq = 0) => entriesOf(threadId).slice(Math.max(fromSeq, 0)),
    rewrite: async (lease, entries) => {
      check(lease);
      const { threadId } = lease;
      const rewritten = [...entriesOf(threadId)];
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
    list: async (options) =>
      pageOfThreads(() => [...threads.values()].map(({ entries: _, ...thread }) => thread), options),
    delete: async (threadId, lease) => {
      if (lease !== undefined) check(lease);
      const newest = leases.get(threadId);
      if (newest !== undefined) leases.set(threadId, { ...newest, until: released });
      snapshots.delete(threadId);
      return threads.delete(threadId);
    },
    close: async () => {},
  };
};

const released = -1;
