import {
  type ApprovalAnswered,
  type AskReceived,
  type CancelRequested,
  type Event,
  type Refusal,
  type ThreadStarted,
  type ToolCompleted,
  type ToolFailed,
  canonicalText,
  type Entry,
  type State,
  transition,
} from "@colloquy/machine";
import { decodeEvent, describeDecodeError } from "@colloquy/machine/journal";
import { redactEntry } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { isRecord } from "../boundary/thrown.ts";
import type { HostContext } from "../context/host-context.ts";
import type { Clock } from "../ports/clock.ts";
import type { InboxItem, InboxAnswer, Lease } from "../ports/store.ts";

/** An inbox item that has an id, with its event or the problem with it. */
export type ReadItem = InboxItem | { readonly id: string; readonly problem: string };

/** Returns the id of an inbox item, by which it can be answered; null if it has none. */
export const idOf = (stored: unknown): string | null => {
  const id = isRecord(stored) ? stored["id"] : null;
  return typeof id === "string" ? id : null;
};

export const readItem = (id: string, stored: unknown): ReadItem => {
  const decoded = decodeEvent(isRecord(stored) ? stored["event"] : undefined);
  if (Either.isLeft(decoded)) return { id, problem: describeDecodeError(decoded.left) };
  const event = decoded.right;
  return mayBeInInbox(event)
    ? { id, event }
    : { id, problem: `"${event.type}" can't be left as an inbox item; send it on the host that has the thread` };
};

type InboxEvent = ApprovalAnswered | AskReceived | CancelRequested | ToolCompleted | ToolFailed;

/** Returns whether an event is recognised when it is sent again, so that it may be posted as an inbox item. */
export const mayBeInInbox = (event: Event | ThreadStarted): event is InboxEvent =>
  event.type === "ask.received" ||
  event.type === "approval.answered" ||
  event.type === "tool.completed" ||
  event.type === "tool.failed" ||
  (event.type === "cancel.requested" && event.askId !== undefined);

/** Returns the event of the inbox item that requests a lease: it cancels an ask of the item's own id, which nobody made. */
export const requestOf = (id: string, clock: Clock): CancelRequested => ({
  type: "cancel.requested",
  at: clock.now(),
  askId: id,
});

export const isRequest = (stored: unknown): boolean => {
  const event = isRecord(stored) ? stored["event"] : undefined;
  return isRecord(event) && event["type"] === "cancel.requested" && event["askId"] === idOf(stored);
};

/** Returns whether an entry, even a redacted one, is that of an inbox item's event, as the holder journalled it. */
export const isEntryOf = (stored: unknown, event: Event): boolean => {
  const there = isRecord(stored) ? stored["event"] : undefined;
  if (!isRecord(stored) || !isRecord(there) || there["type"] !== event.type || named(there) !== named(event))
    return false;
  // An ask is journalled with the time at which it is accepted.
  const { at } = event;
  if (event.type === "ask.received" ? Number(there["at"]) < at : there["at"] !== at) return false;
  const own = stored["redacted"] === true ? redactEntry({ seq: 1, event }).event : event;
  return canonicalText(asSent(own)) === canonicalText(asSent(there));
};

const asSent = (event: object): object => ({ ...event, at: undefined, partial: undefined });

/** Decodes an answer. Returns null if there is none, or if it is invalid. */
export const readAnswer = (stored: unknown): InboxAnswer | null => {
  if (!isRecord(stored) || typeof stored["id"] !== "string") return null;
  const { id, handled, seq, refusal } = stored;
  if (handled === true && typeof seq === "number") return { id, handled, seq };
  if (handled === false) return { id, handled, refusal: readRefusal(refusal) };
  return null;
};

/** Decodes a refusal. An unreadable one still refuses: its sender must not wait forever. */
const readRefusal = (stored: unknown): Refusal => {
  const { kind, reason, turn } = isRecord(stored) ? stored : {};
  const known = kinds.find((each) => each === kind);
  if (known === undefined || typeof reason !== "string")
    return { kind: "invalid", reason: "it was refused, and the answer to its inbox item can't be read" };
  return { kind: known, reason, ...(typeof turn === "number" ? { turn } : {}) };
};

const kinds: readonly Refusal["kind"][] = ["stale", "busy", "full", "unknown", "invalid"];

const named = (event: object): unknown =>
  "askId" in event ? event.askId : "effectId" in event ? event.effectId : undefined;

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
};

/** Returns the inbox item that is stored, in a list; none if it is unreadable. */
export const itemsIn = (stored: unknown): readonly InboxItem[] => {
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
