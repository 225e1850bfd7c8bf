import type { Entry } from "@colloquy/machine";
import { redactEntry } from "@colloquy/machine/storage";
import type { HostContext } from "../context/host-context.ts";
import { fromStore } from "../ports/store-call.ts";
import type { Lease } from "../ports/store.ts";

/**
 * Returns the entries as they must be read: those that a redaction names have lost their words, even if it is not
 * finished.
 */
export const withRedactions = (entries: readonly Entry[]): readonly Entry[] => {
  const pending = pendingIn(entries);
  return pending.size === 0 ? entries : entries.map((entry) => (pending.has(entry.seq) ? redactEntry(entry) : entry));
};

/**
 * Finishes, in the store as well, a redaction that a crash interrupted after it was journalled. Returns the entries as
 * they must be read.
 *
 * @throws LeaseLostError, StoreError
 */
export const finishRedaction = async (
  host: HostContext,
  lease: Lease,
  entries: readonly Entry[],
): Promise<readonly Entry[]> => {
  const pending = pendingIn(entries);
  if (pending.size === 0) return entries;
  const redacted = withRedactions(entries);
  await rewriteEntries(
    host,
    lease,
    redacted.filter(({ seq }) => pending.has(seq)),
  );
  return redacted;
};

/** Replaces entries by the same entries without their words. @throws LeaseLostError, StoreError */
export const rewriteEntries = ({ store }: HostContext, lease: Lease, entries: readonly Entry[]): Promise<void> =>
  fromStore(lease.threadId, "redact its journal", () => store.rewrite(lease, entries));

const pendingIn = (entries: readonly Entry[]): ReadonlySet<number> => {
  const named = entries.flatMap(({ event }) => (event.type === "thread.redacted" ? event.seqs : []));
  return new Set(named.filter((seq) => entries[seq]?.redacted === undefined && entries[seq] !== undefined));
};
