import { findNewest } from "../../thread/chunks.ts";
import type { Ask, Turn, TurnOutcome } from "../../thread/turn.ts";
import {
  type ConversationData,
  type DroppedBecause,
  type QueuedAsk,
  remembered,
  type State,
} from "../protocol/data.ts";

/** The record of an ask: its status and times. Plain data. */
export interface AskRecord {
  readonly askId: string;
  readonly status: AskStatus;
  /** The turn that answers it, on the path or off it; null while it waits, and if no turn answers it. */
  readonly turn: number | null;
  /**
   * In milliseconds since the epoch, from the event that brought it; for an envelope, the time when it was accepted.
   */
  readonly askedAt: number;
  /** When its turn began. */
  readonly startedAt?: number;
  /** When its turn ended, or it was dropped. */
  readonly endedAt?: number;
  /** How its turn ended. */
  readonly outcome?: TurnOutcome;
}

/**
 * `queued`: it waits for a turn. `joining`: it joins the open turn, and waits for its next prompt. `open`: its turn is
 * open. After that, the status is how its turn ended, or why no turn answers it.
 */
export type AskStatus = "queued" | "joining" | "open" | TurnOutcome["status"] | DroppedBecause;

/**
 * Returns the record of an ask. Returns null if it was never made, or is too old. A thread remembers the asks of the
 * newest 256 turns, the newest 256 dropped asks, and all waiting asks.
 */
export const askNamed = ({ context }: State, askId: string): AskRecord | null => {
  const named = ({ askId: id }: { readonly askId: string }): boolean => id === askId;
  const [pending] = pendingIn(context).filter(named);
  if (pending !== undefined) return pending;
  const dropped = context.dropped.findLast(named);
  if (dropped !== undefined) return recordOfDropped(dropped);
  const turn = findNewest(context.conversation.turns, remembered, ({ asks }) => asks.some(named));
  const ask = turn?.asks.find(named);
  return turn === undefined || ask === undefined ? null : recordOfClosed(turn, ask);
};

/**
 * Returns the newest asks, ordered by `askedAt`, which is the hosts' clocks: waiting, open, and the remembered
 * answered and dropped ones.
 *
 * @param last the largest number of asks to return.
 * @throws RangeError if `last` is not a whole number ≥ 0.
 */
export const asksOf = ({ context }: State, last: number = remembered): readonly AskRecord[] => {
  if (!(Number.isSafeInteger(last) && last >= 0))
    throw new RangeError(`last is ${last}; it must be a whole number, 0 or more`);
  const records = [...closedIn(context, last), ...context.dropped.map(recordOfDropped), ...pendingIn(context)];
  // Turns and dropped asks are stored apart, so only the time tells which was asked first.
  return records.sort((one, other) => one.askedAt - other.askedAt).slice(Math.max(records.length - last, 0));
};

/** Oldest first. */
const closedIn = ({ conversation: { turns } }: ConversationData, last: number): readonly AskRecord[] => {
  const records: AskRecord[] = [];
  findNewest(turns, remembered, (turn) => {
    records.unshift(...turn.asks.map((ask) => recordOfClosed(turn, ask)));
    return records.length >= last;
  });
  return records;
};

const pendingIn = ({ open, queue }: ConversationData): readonly AskRecord[] => [
  ...(open?.asks.map(({ askId, askedAt }): AskRecord => ({
    askId,
    status: "open",
    turn: open.number,
    askedAt,
    startedAt: open.startedAt,
  })) ?? []),
  ...(open?.joining.map((ask) => recordOfWaiting(ask, "joining", open.number)) ?? []),
  ...queue.map((ask) => recordOfWaiting(ask, "queued", null)),
];

const recordOfWaiting = ({ askId, at: askedAt }: QueuedAsk, status: AskStatus, turn: number | null): AskRecord => ({
  askId,
  status,
  turn,
  askedAt,
});

const recordOfDropped = ({ askId, askedAt, droppedAt, because }: ConversationData["dropped"][number]): AskRecord => ({
  askId,
  status: because,
  turn: null,
  askedAt,
  endedAt: droppedAt,
});

const recordOfClosed = ({ number, startedAt, endedAt, outcome }: Turn, { askId, askedAt }: Ask): AskRecord => ({
  askId,
  status: outcome.status,
  turn: number,
  askedAt,
  startedAt,
  endedAt,
  outcome,
});
