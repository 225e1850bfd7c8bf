import type { Entry, Refusal, State, ThreadRedacted } from "@colloquy/machine";
import { fold, redactEntry, transition } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import type { Equipment } from "../context/host-context.ts";
import {
  EventRefusedError,
  JournalUnreadableError,
  LeaseLostError,
  StoreError,
  ThreadHeldError,
  ThreadUnknownError,
} from "../boundary/errors.ts";
import type { Lease } from "../ports/store.ts";
import { toldEvent } from "../boundary/given-event.ts";
import { HeldLease } from "./lease.ts";
import { readJournal } from "./read-journal.ts";
import { settleLetters } from "../delegation/settle-letters.ts";

/** Which entries of a journal are meant; or why there are none. */
export type ChosenEntries = (entries: readonly Entry[]) => Either.Either<Refusal, readonly number[]>;

/**
 * Takes the words of some entries out of a thread that nobody has open: first that it is decided is journalled, then the
 * entries are rewritten. Gives the seqs of those entries.
 *
 * @throws EventRefusedError, ThreadUnknownError, ThreadHeldError, LeaseLostError, JournalUnreadableError, StoreError
 */
export const redactJournal = async (
  equipment: Equipment,
  threadId: string,
  chosen: ChosenEntries,
  reason: string | undefined,
): Promise<readonly number[]> => {
  const held = await HeldLease.take(threadId, equipment, () => {});
  if (held === null) throw new ThreadHeldError(threadId);
  const { lease } = held;
  try {
    const entries = await finishRedaction(equipment, lease, await readJournal(equipment, threadId));
    if (entries.length === 0) throw new ThreadUnknownError(threadId);
    const meant = chosen(entries);
    if (Either.isLeft(meant)) throw new EventRefusedError(threadId, meant.left);
    const state = foldedState(threadId, entries);
    // A letter may say again what was journalled, where a crash swallowed its answer.
    await settleLetters(equipment, lease, entries, state, meant.right);
    const seqs = meant.right.filter((seq) => entries[seq]?.redacted === undefined);
    if (seqs.length === 0) {
      // The store may owe what it could not do the last time.
      const done = entries.filter(({ redacted }) => redacted === true);
      if (done.length > 0) await rewrite(equipment, lease, done);
      return [];
    }
    const why = reason === undefined ? {} : { reason };
    const event = toldEvent<ThreadRedacted>({ type: "thread.redacted", at: equipment.clock.now(), seqs, ...why });
    if (Either.isLeft(event)) throw new EventRefusedError(threadId, event.left);
    const entry = await journalled(equipment, held, state, event.right);
    await finishRedaction(equipment, lease, [...entries, entry]);
    return seqs;
  } finally {
    await held.release();
  }
};

const foldedState = (threadId: string, entries: readonly Entry[]): State => {
  const state = fold(entries);
  if (Either.isRight(state)) return state.right;
  throw new JournalUnreadableError(threadId, `entry ${state.left.seq}: ${state.left.reason}`);
};

const journalled = async (
  { machine, observation }: Equipment,
  held: HeldLease,
  state: State,
  event: ThreadRedacted,
): Promise<Entry> => {
  const { threadId } = held.lease;
  const step = transition(machine, state, event);
  if (!step.handled) throw new EventRefusedError(threadId, step.refusal);
  await held.append(step.entry);
  observation.entry(step.entry, threadId);
  for (const effect of step.effects) if (effect.type === "publish") observation.signal(effect.signal, threadId);
  return step.entry;
};

/** The entries as they are to be read: those that a redaction names have lost their words, whether or not it came that far. */
export const withRedactions = (entries: readonly Entry[]): readonly Entry[] => {
  const pending = pendingIn(entries);
  return pending.size === 0 ? entries : entries.map((entry) => (pending.has(entry.seq) ? redactEntry(entry) : entry));
};

/**
 * The same, and in the store as well: what a crash left between the decision to redact and its being done is done now.
 *
 * @throws LeaseLostError, StoreError
 */
export const finishRedaction = async (
  equipment: Equipment,
  lease: Lease,
  entries: readonly Entry[],
): Promise<readonly Entry[]> => {
  const pending = pendingIn(entries);
  if (pending.size === 0) return entries;
  const redacted = withRedactions(entries);
  await rewrite(
    equipment,
    lease,
    redacted.filter(({ seq }) => pending.has(seq)),
  );
  return redacted;
};

/** Puts entries without their words in the place of those that had them. */
const rewrite = async ({ store }: Equipment, lease: Lease, entries: readonly Entry[]): Promise<void> => {
  try {
    await store.rewrite(lease, entries);
  } catch (thrown) {
    throw thrown instanceof LeaseLostError ? thrown : new StoreError(lease.threadId, "redact its journal", thrown);
  }
};

const pendingIn = (entries: readonly Entry[]): ReadonlySet<number> => {
  const named = entries.flatMap(({ event }) => (event.type === "thread.redacted" ? event.seqs : []));
  return new Set(named.filter((seq) => entries[seq]?.redacted === undefined && entries[seq] !== undefined));
};
