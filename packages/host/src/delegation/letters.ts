import type { ApprovalAnswered, AskReceived, CancelRequested, Event, Refusal, ThreadStarted } from "@colloquy/machine";
import { canonicalText } from "@colloquy/machine";
import { decodeEvent, describeDecodeError } from "@colloquy/machine/journal";
import { redactEntry } from "@colloquy/machine/storage";
import * as Either from "fp-ts/lib/Either.js";
import { isRecord } from "../boundary/thrown.ts";
import type { Letter, LetterAnswer } from "../ports/store.ts";

/** A letter that has an id, and with it its event or what is wrong with that. */
export type ReadLetter = Letter | { readonly id: string; readonly problem: string };

/** The id of a letter, by which it can be answered; null for what has none. */
export const idOf = (stored: unknown): string | null => {
  const id = isRecord(stored) ? stored["id"] : null;
  return typeof id === "string" ? id : null;
};

export const readLetter = (id: string, stored: unknown): ReadLetter => {
  const decoded = decodeEvent(isRecord(stored) ? stored["event"] : undefined);
  if (Either.isLeft(decoded)) return { id, problem: describeDecodeError(decoded.left) };
  const event = decoded.right;
  return mayBeLetter(event)
    ? { id, event }
    : { id, problem: `"${event.type}" can't be left as a letter; tell it to the host that holds the thread` };
};

type LetterEvent = ApprovalAnswered | AskReceived | CancelRequested;

/** Whether an event is recognised when it is told again, so that it may be told by way of a letter. */
export const mayBeLetter = (event: Event | ThreadStarted): event is LetterEvent =>
  event.type === "ask.received" ||
  event.type === "approval.answered" ||
  (event.type === "cancel.requested" && event.askId !== undefined);

/** Whether an entry of a journal is that of a letter's event, whatever was laid onto it when it was taken, and also where it was redacted. */
export const isEntryOf = (stored: unknown, event: Event): boolean => {
  const there = isRecord(stored) ? stored["event"] : undefined;
  if (!isRecord(stored) || !isRecord(there) || there["type"] !== event.type || named(there) !== named(event))
    return false;
  // An ask is told at the time when it is taken.
  const { at } = event;
  if (event.type === "ask.received" ? Number(there["at"]) < at : there["at"] !== at) return false;
  const own = stored["redacted"] === true ? redactEntry({ seq: 1, event }).event : event;
  return canonicalText(asTold(own)) === canonicalText(asTold(there));
};

/** Of an event, what whoever holds the thread does not lay onto it. */
const asTold = (event: object): object => ({ ...event, at: undefined, partial: undefined });

/** Null for an answer that is not there, or is none. */
export const readAnswer = (stored: unknown): LetterAnswer | null => {
  if (!isRecord(stored) || typeof stored["id"] !== "string") return null;
  const { id, handled, seq, refusal } = stored;
  if (handled === true && typeof seq === "number") return { id, handled, seq };
  if (handled === false) return { id, handled, refusal: readRefusal(refusal) };
  return null;
};

/** A refusal that can't be read is one all the same: whoever waits for it must not wait for ever. */
const readRefusal = (stored: unknown): Refusal => {
  const { kind, reason, turn } = isRecord(stored) ? stored : {};
  const known = kinds.find((each) => each === kind);
  if (known === undefined || typeof reason !== "string")
    return { kind: "invalid", reason: "it was refused, and the answer to its letter can't be read" };
  return { kind: known, reason, ...(typeof turn === "number" ? { turn } : {}) };
};

const kinds: readonly Refusal["kind"][] = ["stale", "busy", "full", "unknown", "invalid"];

/** What such an event is about. */
const named = (event: object): unknown =>
  "askId" in event ? event.askId : "effectId" in event ? event.effectId : undefined;
