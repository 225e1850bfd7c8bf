import type {
  ApprovalAnswered,
  AskReceived,
  CancelRequested,
  Event,
  Refusal,
  ThreadStarted,
  ToolCompleted,
  ToolFailed,
} from "@colloquy/machine";
import { canonicalText } from "@colloquy/machine";
import { decodeEvent, describeDecodeError } from "@colloquy/machine/journal";
import { redactEntry } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { isRecord } from "../boundary/thrown.ts";
import type { InboxItem, InboxAnswer } from "../ports/store.ts";
import type { Clock } from "../ports/clock.ts";

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

/** Returns whether an inbox item requests the lease. */
export const isRequest = (stored: unknown): boolean => {
  const event = isRecord(stored) ? stored["event"] : undefined;
  return isRecord(event) && event["type"] === "cancel.requested" && event["askId"] === idOf(stored);
};

/**
 * Returns whether an entry of a journal is that of an inbox item's event. Members that the holder added are ignored,
 * and the entry may be redacted.
 */
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

/** Returns an event without the members that the holder of the thread adds. */
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

/** Returns the id of the ask or effect that such an event is about. */
const named = (event: object): unknown =>
  "askId" in event ? event.askId : "effectId" in event ? event.effectId : undefined;
