import type { Lease, PartLog, StoredPartBatch } from "../ports/store.ts";

/** A log of parts that lives as long as the process. `check` throws for a lease that is not in force; `forget` drops what is there of a thread. */
export const memoryPartLog = (
  check: (lease: Lease) => void,
): { readonly parts: PartLog; readonly forget: (threadId: string) => void } => {
  const batches = new Map<string, readonly KeptBatch[]>();
  const keptAt = (threadId: string, now: number): readonly KeptBatch[] =>
    (batches.get(threadId) ?? []).filter(({ until }) => until > now);
  const parts: PartLog = {
    append: async (lease, { number, turn, body, at, until }) => {
      check(lease);
      const { threadId, token } = lease;
      batches.set(threadId, [...keptAt(threadId, at), { token, number, turn, body, until }]);
    },
    read: async (threadId, { at, after, turn }) =>
      keptAt(threadId, at)
        .filter((batch) => turn === undefined || batch.turn === turn)
        .filter((batch) => after === null || isBehind(batch, after))
        .map(({ until: _, ...batch }) => batch),
  };
  return { parts, forget: (threadId) => void batches.delete(threadId) };
};

interface KeptBatch extends StoredPartBatch {
  readonly until: number;
}

const isBehind = ({ token, number }: KeptBatch, after: { readonly token: number; readonly number: number }): boolean =>
  token > after.token || (token === after.token && number > after.number);
