import { type Entry, type Refusal, type State, type ThreadRedacted, transition } from "@colloquy/machine";
import { frozenCopy } from "@colloquy/machine/hosting";
import { entriesToRedact, isRedactionTarget, type RedactionTarget } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { EventRefusedError, ThreadUnknownError } from "../boundary/errors.ts";
import { givenEvent } from "../boundary/given-event.ts";
import { kinds, type OptionKinds } from "../boundary/option-kinds.ts";
import type { HostContext } from "../context/host-context.ts";
import { settleInbox } from "../delegation/inbox-items.ts";
import type { HeldLease } from "../journal/lease.ts";
import { foldedState, readJournal, finishRedaction } from "../journal/read-journal.ts";
import { goesOn } from "../mailbox/mailbox.ts";
import { copiedEntries } from "./copied-entries.ts";
import { exportJournal } from "./history.ts";
import { checkOptions, closedHere, inTurn, threadIdOf, type ThreadRef } from "./thread-ref.ts";

/** The options of a redaction. */
export interface RedactOptions {
  /** The reason, kept in the journal. */
  readonly reason?: string;
  /** The ids of forks of this thread, and of forks of those, in which the same words are removed as well. */
  readonly copies?: readonly string[];
}

/** Removes words from a journal, and first from its copies. Returns the seqs of the thread's own entries. */
export const redactThread = async (
  thread: ThreadRef,
  given: RedactionTarget,
  options: RedactOptions,
): Promise<readonly number[]> => {
  checkOptions(thread, "redact", options, redactOptionKinds);
  const { reason } = options;
  const [target, copies] = frozenCopy([given, options.copies ?? []] as const);
  if (!isRedactionTarget(target)) throw new EventRefusedError(thread.id, noTarget);
  const chosen = (entries: readonly Entry[]) => Either.mapLeft(refusalOf)(entriesToRedact(entries, target));
  if (copies.length > 0) await redactCopies(thread, target, chosen, copies, reason);
  return redactEntries(thread, chosen, reason);
};

const redactEntries = (
  thread: ThreadRef,
  chosen: ChosenEntries,
  reason: string | undefined,
): Promise<readonly number[]> => {
  const redact = () => closedHere(thread, (held) => redactJournal(thread.host, held, chosen, reason));
  return inTurn(thread, redact, ({ context: { open, waking } }, hasMore) =>
    open === null && waking === null && !hasMore ? null : busy,
  );
};

const redactCopies = async (
  thread: ThreadRef,
  target: RedactionTarget,
  chosen: ChosenEntries,
  copies: readonly string[],
  reason: string | undefined,
): Promise<void> => {
  const { id, host } = thread;
  const original = await exportJournal(thread);
  const meant = chosen(original);
  if (Either.isLeft(meant)) throw new EventRefusedError(id, meant.left);
  const known = new Set([id, ...copies]);
  const inCopy: ChosenEntries = (entries) => {
    const isCopy = entries.some(({ event }) => event.type === "thread.forked" && known.has(event.from.threadId));
    return Either.mapLeft(refusalOf)(
      isCopy ? copiedEntries(original, meant.right, target, entries) : Either.left(`it is no copy of thread "${id}"`),
    );
  };
  for (const copy of copies) await redactEntries({ ...thread, id: threadIdOf(copy, host.ids) }, inCopy, reason);
};

/** Returns the entries of a journal to redact, or why there are none. */
type ChosenEntries = (entries: readonly Entry[]) => Either.Either<Refusal, readonly number[]>;

/**
 * Removes the words of some entries of a thread that is not open here. First the decision is journalled, then the
 * entries are rewritten. Returns the seqs of those entries.
 *
 * @throws EventRefusedError, ThreadUnknownError, ThreadHeldError, LeaseLostError, JournalUnreadableError, StoreError
 */
const redactJournal = async (
  host: HostContext,
  held: HeldLease,
  chosen: ChosenEntries,
  reason: string | undefined,
): Promise<readonly number[]> => {
  const { lease } = held;
  const { threadId } = lease;
  host.logs.forget(threadId);
  const entries = await finishRedaction(host, lease, await readJournal(host, threadId));
  if (entries.length === 0) throw new ThreadUnknownError(threadId);
  const meant = chosen(entries);
  if (Either.isLeft(meant)) throw new EventRefusedError(threadId, meant.left);
  const state = foldedState(threadId, entries);
  // An inbox item may repeat words of the journal, if a crash prevented its answer.
  await settleInbox(host, lease, entries, state, meant.right);
  const seqs = meant.right.filter((seq) => entries[seq]?.redacted === undefined);
  if (seqs.length === 0) {
    // The store may have failed to finish the last rewrite.
    const done = entries.filter(({ redacted }) => redacted === true);
    if (done.length > 0) await host.store.rewrite(lease, done);
    held.isOver = !goesOn(state);
    return [];
  }
  const why = reason === undefined ? {} : { reason };
  const event = givenEvent<ThreadRedacted>({ type: "thread.redacted", at: host.clock.now(), seqs, ...why });
  if (Either.isLeft(event)) throw new EventRefusedError(threadId, event.left);
  const entry = await journalled(host, held, state, event.right);
  await finishRedaction(host, lease, [...entries, entry]);
  held.isOver = !goesOn(state);
  return seqs;
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
  await held.append([step.entry]);
  observation.entry(step.entry, threadId, { before: state, after: step.state });
  for (const effect of step.effects) if (effect.type === "publish") observation.signal(effect.signal, threadId);
  return step.entry;
};

const redactOptionKinds: OptionKinds<RedactOptions> = { reason: kinds.anything, copies: kinds.anything };

const noTarget: Refusal = {
  kind: "invalid",
  reason: "what is to be redacted is named by { turn }, a number, by { message }, an id, or by { seqs }, numbers",
};

const busy: Refusal = {
  kind: "busy",
  reason: "a turn is open, or something waits to be handled; wait for its end or cancel it, and redact then",
};

const refusalOf = (reason: string): Refusal => ({ kind: "unknown", reason });
