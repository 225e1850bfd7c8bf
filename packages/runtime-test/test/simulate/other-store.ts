import type { Clock, Store } from "@colloquy/host";
import { type Lease, LeaseLostError, SequenceConflictError } from "@colloquy/host/store";

/** Makes a store that shares only the port with the host's: it has one list of rows, and answers later. */
export const otherStore = ({ clock }: { readonly clock: Clock }): Store => {
  const rows: { readonly threadId: string; readonly seq: number; readonly entry: unknown }[] = [];
  let leases: readonly (Lease & { readonly until: number })[] = [];
  const newest = (threadId: string): (Lease & { readonly until: number }) | undefined =>
    leases.findLast((lease) => lease.threadId === threadId);
  const holds = (lease: Lease): boolean => newest(lease.threadId)?.token === lease.token;
  const until = (lease: Lease, at: number): void => {
    leases = leases.map((other) => (other.token === lease.token ? { ...other, until: at } : other));
  };
  const rowsOf = (threadId: string): typeof rows => rows.filter((row) => row.threadId === threadId);
  return {
    acquire: async (threadId, owner, ttlMs) => {
      const held = newest(threadId);
      if (held !== undefined && held.owner !== owner && held.until > clock.now()) return null;
      const lease = { threadId, owner, token: leases.length + 1 };
      leases = [...leases, { ...lease, until: clock.now() + ttlMs }];
      return lease;
    },
    renew: async (lease, ttlMs) => {
      if (!holds(lease) || newest(lease.threadId)?.until === 0) return false;
      until(lease, clock.now() + ttlMs);
      return true;
    },
    release: async (lease) => until(lease, 0),
    abandoned: async () =>
      [...new Set(leases.map(({ threadId }) => threadId))].filter((threadId) => {
        const { until: end } = newest(threadId) ?? { until: 0 };
        return end !== 0 && end <= clock.now();
      }),
    append: async (lease, expectedSeq, entries) => {
      if (!holds(lease) || (newest(lease.threadId)?.until ?? 0) <= clock.now()) throw new LeaseLostError(lease);
      const seq = rowsOf(lease.threadId).length - 1;
      if (seq !== expectedSeq) throw new SequenceConflictError(lease.threadId, expectedSeq, seq);
      for (const entry of entries)
        rows.push({ threadId: lease.threadId, seq: entry.seq, entry: structuredClone(entry) });
    },
    read: async (threadId, fromSeq = 0) =>
      rowsOf(threadId)
        .filter(({ seq }) => seq >= fromSeq)
        .map(({ entry }) => structuredClone(entry)),
    rewrite: async ({ threadId }, entries) => {
      for (const entry of entries) {
        const index = rows.findIndex((row) => row.threadId === threadId && row.seq === entry.seq);
        rows[index] = { threadId, seq: entry.seq, entry: structuredClone(entry) };
      }
    },
    saveSnapshot: async () => undefined,
    readSnapshot: async () => null,
    list: async () => ({ threads: [], next: null }),
    delete: async () => false,
    close: async () => undefined,
  };
};
