import type { Entry, JsonObject, SeedDraft, State, SystemDraft, ThreadStarted, TurnAdded } from "@colloquy/machine";
import { outstanding, start, transition } from "@colloquy/machine";
import { lostEventIn } from "@colloquy/machine/hosting";
import { decodeJournal, describeDecodeError } from "@colloquy/machine/journal";
import * as Either from "fp-ts/lib/Either.js";
import { EventRefusedError, ImportRefusedError, ThreadExistsError } from "../boundary/errors.ts";
import { plainCopyOf, type Given, givenEvent, givenStart } from "../boundary/given-event.ts";
import { isRecord, messageOf } from "../boundary/thrown.ts";
import type { HostContext } from "../context/host-context.ts";
import { withLease } from "../delegation/requested-lease.ts";
import { foldedState, withRedactions } from "../journal/read-journal.ts";
import { goesOn } from "../mailbox/mailbox.ts";
import { SequenceConflictError } from "../ports/store.ts";

/** A conversation that was had elsewhere, as the readers of other formats return it. */
export interface ForeignConversation {
  readonly system?: SystemDraft | null;
  readonly turns: readonly (readonly SeedDraft[])[];
}

/**
 * Stores the journal of a thread that does not exist yet: all of it, or nothing.
 *
 * @throws ThreadExistsError, ThreadHeldError, LeaseLostError, StoreError
 */
export const storeJournal = async (host: HostContext, threadId: string, entries: readonly Entry[]): Promise<void> => {
  await withLease(host, threadId, async (held) => {
    try {
      await host.store.append(held.lease, -1, entries);
      held.isOver = !goesOn(foldedState(threadId, entries));
    } catch (thrown) {
      if (thrown instanceof SequenceConflictError) throw new ThreadExistsError(threadId);
      throw thrown;
    }
  });
};

/**
 * Validates a journal from outside, as that of a thread. Under another id than its own it is a whole copy, and
 * continues with the unfinished work of the original.
 *
 * @throws ImportRefusedError
 */
export const importedJournal = (values: readonly unknown[], threadId: string): readonly Entry[] => {
  const decoded = decodeJournal(plainCopy(values, threadId));
  if (Either.isLeft(decoded))
    throw new ImportRefusedError(threadId, decoded.left.index, describeDecodeError(decoded.left));
  const own = threadIdIn(decoded.right) ?? threadId;
  // It may have been read while a redaction was in progress.
  const redacted = withRedactions(decoded.right);
  const lost = lostEventIn(redacted);
  if (lost !== null) throw new ImportRefusedError(threadId, lost.seq, `entry ${lost.seq}: ${lost.reason}`);
  const entries = own === threadId ? redacted : redacted.map((entry) => renamed(entry, own, threadId));
  checkGoesOn(entries, threadId);
  return entries;
};

/**
 * Makes the journal of a new thread in which turns are added by hand.
 *
 * @throws ImportRefusedError
 */
export const journalOfTurns = (
  { machine, clock }: HostContext,
  threadId: string,
  conversation: ForeignConversation,
  metadata: JsonObject | undefined,
): readonly Entry[] => {
  const at = clock.now();
  const turns = turnsIn(conversation, threadId);
  const begun = start(
    machine,
    beginningOf({ type: "thread.started", threadId, at, system: conversation.system ?? undefined, metadata }),
  );
  const entries: Entry[] = [begun.entry];
  let state: State = begun.state;
  for (const [index, messages] of turns.entries()) {
    const refused = (reason: string) => new ImportRefusedError(threadId, index + 1, `turn ${index + 1}: ${reason}`);
    const event = givenEvent<TurnAdded>({ type: "turn.added", at, messages });
    if (Either.isLeft(event)) throw refused(event.left.reason);
    const step = transition(machine, state, event.right);
    if (!step.handled) throw refused(step.refusal.reason);
    entries.push(step.entry);
    state = step.state;
  }
  return importedJournal(entries, threadId);
};

/**
 * Returns the turns of a conversation. Callers in JavaScript may pass any value, above all the error that a reader of
 * another format returned.
 */
const turnsIn = (conversation: unknown, threadId: string): ForeignConversation["turns"] => {
  const turns = isRecord(conversation) ? conversation["turns"] : null;
  // Each turn is decoded before it is used.
  if (Array.isArray(turns)) return turns as ForeignConversation["turns"];
  throw new ImportRefusedError(
    threadId,
    null,
    "a conversation has a list of turns; give { system, turns }, as the `right` of fromChatMessages and the like is",
  );
};

const beginningOf = (event: Given<ThreadStarted> & Pick<ThreadStarted, "threadId">): ThreadStarted => {
  try {
    return givenStart(event);
  } catch (thrown) {
    throw thrown instanceof EventRefusedError
      ? new ImportRefusedError(event.threadId, 0, thrown.refusal.reason)
      : thrown;
  }
};

/** Returns the thread id that a journal from outside names; null if it names none. */
export const threadIdIn = (values: readonly unknown[]): string | null => {
  // Callers in JavaScript may pass any value.
  const first: unknown = Array.isArray(values) ? values[0] : null;
  const event = isRecord(first) ? first["event"] : null;
  const id = isRecord(event) ? event["threadId"] : null;
  return typeof id === "string" && id !== "" ? id : null;
};

const plainCopy = (values: readonly unknown[], threadId: string): readonly unknown[] => {
  const copy = plainCopyOf(values, "the journal");
  if (Either.isLeft(copy)) throw new ImportRefusedError(threadId, null, copy.left);
  if (Array.isArray(copy.right)) return copy.right;
  throw new ImportRefusedError(threadId, null, "a journal is a list of entries");
};

const renamed = (entry: Entry, from: string, threadId: string): Entry => {
  const { event } = entry;
  // Only an id changes, so an entry keeps its type.
  if (event.type === "thread.started") return { ...entry, event: { ...event, threadId } } as Entry;
  if (!("effectId" in event) || !event.effectId.startsWith(`${from}/`)) return entry;
  return { ...entry, event: { ...event, effectId: `${threadId}${event.effectId.slice(from.length)}` } };
};

/** Refuses a journal that can be decoded, but that no host could continue. */
const checkGoesOn = (entries: readonly Entry[], threadId: string): void => {
  try {
    // Its entries were folded above, so only its unfinished work may be unusable.
    outstanding(foldedState(threadId, entries));
  } catch (thrown) {
    throw new ImportRefusedError(threadId, null, `no host could go on with it: ${messageOf(thrown)}`);
  }
};
