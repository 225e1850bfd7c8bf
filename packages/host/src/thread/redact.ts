import type { Entry, Refusal, State, ThreadRedacted } from "@colloquy/machine";
import { transition } from "@colloquy/machine";
import * as Either from "fp-ts/lib/Either.js";
import { EventRefusedError, ThreadUnknownError } from "../boundary/errors.ts";
import { givenEvent } from "../boundary/given-event.ts";
import type { HostContext } from "../context/host-context.ts";
import { settleLetters } from "../delegation/settle-letters.ts";
import { type HeldLease, withLease } from "../journal/lease.ts";
import { foldedState, readJournal } from "../journal/read-journal.ts";
import { finishRedaction, rewriteEntries } from "../journal/redaction.ts";

/** Which entries of a journal are meant; or why there are none. */
export type ChosenEntries = (entries: readonly Entry[]) => Either.Either<Refusal, readonly number[]>;

/**
 * Takes the words of some entries out of a thread that nobody has open: first that it is decided is journalled, then the
 * entries are rewritten. Gives the seqs of those entries.
 *
 * @throws EventRefusedError, ThreadUnknownError, ThreadHeldError, LeaseLostError, JournalUnreadableError, StoreError
 */
export const redactJournal = async (
  host: HostContext,
  threadId: string,
  chosen: ChosenEntries,
  reason: string | undefined,
): Promise<readonly number[]> => {
  const work = async (held: HeldLease): Promise<readonly number[]> => {
    const { lease } = held;
    const entries = await finishRedaction(host, lease, await readJournal(host, threadId));
    if (entries.length === 0) throw new ThreadUnknownError(threadId);
    const meant = chosen(entries);
    if (Either.isLeft(meant)) throw new EventRefusedError(threadId, meant.left);
    const state = foldedState(threadId, entries);
    // A letter may say again what was journalled, where a crash swallowed its answer.
    await settleLetters(host, lease, entries, state, meant.right);
    const seqs = meant.right.filter((seq) => entries[seq]?.redacted === undefined);
    if (seqs.length === 0) {
      // The store may owe what it could not do the last time.
      const done = entries.filter(({ redacted }) => redacted === true);
      if (done.length > 0) await rewriteEntries(host, lease, done);
      return [];
    }
    const why = reason === undefined ? {} : { reason };
    const event = givenEvent<ThreadRedacted>({ type: "thread.redacted", at: host.clock.now(), seqs, ...why });
    if (Either.isLeft(event)) throw new EventRefusedError(threadId, event.left);
    const entry = await journalled(host, held, state, event.right);
    await finishRedaction(host, lease, [...entries, entry]);
    return seqs;
  };
  return withLease(host, threadId, work);
};

const journalled = async (
  { machine, observation }: HostContext,
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
