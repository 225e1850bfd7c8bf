import { type Entry, type Event, type State, transition } from "@colloquy/machine";
import type { HostContext } from "../context/host-context.ts";
import { fromStore } from "../ports/store-call.ts";
import { type Lease, type InboxItem, type InboxAnswer } from "../ports/store.ts";
import { idOf, isEntryOf, isRequest, readItem } from "./inbox-items.ts";

/**
 * Answers the inbox items of a thread that is not open here and that would no longer change anything: those whose event
 * is journalled, and those that repeat the ask of one of the given entries. Their content is then no longer in the
 * store.
 *
 * @param seqs of the entries whose words are about to be removed.
 * @throws LeaseLostError, StoreError
 */
export const settleInbox = async (
  { store, machine }: HostContext,
  lease: Lease,
  entries: readonly Entry[],
  state: State,
  seqs: readonly number[],
): Promise<void> => {
  const { inbox } = store;
  if (inbox === undefined) return;
  await fromStore(lease.threadId, "settle its inbox", async () => {
    const items = (await inbox.unanswered(lease.threadId))
      // A request for the lease waits until this host has released it.
      .filter((stored) => !isRequest(stored))
      .flatMap(itemsIn)
      .map((item) => ({ ...item, entry: entryOf(entries, new Set(seqs), item.event) }));
    const asks = items.flatMap(({ event, entry }) =>
      event.type === "ask.received" && entry === undefined ? [event.askId] : [],
    );
    const answers = items.flatMap(({ id, event, entry }): readonly InboxAnswer[] => {
      if (entry !== undefined) return [{ id, handled: true, seq: entry.seq }];
      // It may cancel an ask that is itself an inbox item, and is handled first.
      const isEarly = event.type === "cancel.requested" && event.askId !== undefined && asks.includes(event.askId);
      if (event.type === "ask.received" || isEarly) return [];
      const step = transition(machine, state, event);
      return step.handled || step.refusal.kind !== "stale" ? [] : [{ id, handled: false, refusal: step.refusal }];
    });
    if (answers.length > 0) await inbox.answer(lease, answers);
  });
};

const itemsIn = (stored: unknown): readonly InboxItem[] => {
  const id = idOf(stored);
  const item = id === null ? null : readItem(id, stored);
  return item === null || "problem" in item ? [] : [item];
};

/** Returns the entry of an inbox item's event, or the entry to be redacted that made the same ask. */
const entryOf = (entries: readonly Entry[], seqs: ReadonlySet<number>, event: Event): Entry | undefined =>
  entries.findLast((entry) => isEntryOf(entry, event)) ??
  entries.find(
    (entry) =>
      event.type === "ask.received" &&
      entry.event.type === "ask.received" &&
      seqs.has(entry.seq) &&
      entry.event.askId === event.askId,
  );
