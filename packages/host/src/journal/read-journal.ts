import type { Entry, State } from "@colloquy/machine";
import { decodeEntry, decodeJournal, describeDecodeError, fold } from "@colloquy/machine/journal";
import { redactEntry } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { JournalUnreadableError } from "../boundary/errors.ts";
import type { HostContext } from "../context/host-context.ts";
import type { Lease } from "../ports/store.ts";

/**
 * Reads and decodes all entries of a thread; an unknown thread has none. Needs no lease.
 *
 * @throws JournalUnreadableError, StoreError
 */
export const readJournal = async ({ store }: HostContext, threadId: string): Promise<readonly Entry[]> => {
  const entries = decodeJournal(await store.read(threadId, 0));
  if (Either.isLeft(entries)) throw new JournalUnreadableError(threadId, describeDecodeError(entries.left));
  const first = entries.right[0]?.event;
  if (first?.type === "thread.started" && first.threadId !== threadId)
    throw new JournalUnreadableError(
      threadId,
      `it is the journal of thread "${first.threadId}"; the store mixed them up`,
    );
  return entries.right;
};

/** Decodes a stored entry, and checks that its seq is the expected one. Left says what is wrong. */
export const entryAt = (stored: unknown, seq: number): Either.Either<string, Entry> => {
  const entry = decodeEntry(stored, seq);
  if (Either.isLeft(entry)) return Either.left(describeDecodeError(entry.left));
  return entry.right.seq === seq ? entry : Either.left(`entry ${entry.right.seq} stands where ${seq} should`);
};

/** Returns the folded state of all entries. @throws JournalUnreadableError */
export const foldedState = (threadId: string, entries: readonly Entry[]): State => {
  const state = fold(entries);
  if (Either.isRight(state)) return state.right;
  throw new JournalUnreadableError(threadId, `entry ${state.left.seq}: ${state.left.reason}`);
};

/** Returns entries as they must be read: redacted ones without words, even if the redaction is not finished. */
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
  await host.store.rewrite(
    lease,
    redacted.filter(({ seq }) => pending.has(seq)),
  );
  return redacted;
};

const pendingIn = (entries: readonly Entry[]): ReadonlySet<number> => {
  const named = entries.flatMap(({ event }) => (event.type === "thread.redacted" ? event.seqs : []));
  return new Set(named.filter((seq) => entries[seq]?.redacted === undefined && entries[seq] !== undefined));
};
