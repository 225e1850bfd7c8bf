import * as Either from "fp-ts/lib/Either.js";
import { draftsOf } from "../conversation/update/turn-opening.ts";
import type { ConversationData, QueuedAsk, State } from "../conversation/protocol/data.ts";
import { awaited, callsOf, placeIn } from "../conversation/protocol/effect-id.ts";
import type { Decided, Entry, LaterEntry } from "../conversation/protocol/entry.ts";
import type { Event } from "../conversation/protocol/event.ts";
import type { SummaryTask } from "../prompt/policy.ts";
import { at, type Chunks } from "../thread/chunks.ts";
import { type Message, toolCallsOf } from "../thread/message.ts";
import { fold, foldVisiting, type JournalError } from "../journal/fold.ts";
import type { Ask } from "../thread/turn.ts";

/** The turns and messages whose content an entry holds. */
export interface Attribution {
  readonly seq: number;
  /** Closed or open; 0 for messages before the first turn. */
  readonly turns: ReadonlySet<number>;
  /** The ids of the messages. */
  readonly messages: ReadonlySet<string>;
  /** The summary whose outcome the entry is. */
  readonly summary: SummaryTask | null;
}

/** Returns the attribution of each entry of a journal, and the state at its end. */
export const attributionsOf = (
  entries: readonly Entry[],
): Either.Either<JournalError, { readonly attributions: readonly Attribution[]; readonly state: State }> => {
  const begun = fold(entries.slice(0, 1));
  if (Either.isLeft(begun)) return begun;
  const reader = new Reader(begun.right.context);
  const folded = foldVisiting(entries, (entry, before, after) => reader.read(entry, before.context, after.context));
  if (Either.isLeft(folded)) return folded;
  reader.end(folded.right.context);
  return Either.right({ attributions: reader.attributions, state: folded.right });
};

interface Growing extends Attribution {
  readonly turns: Set<number>;
  readonly messages: Set<string>;
  summary: SummaryTask | null;
}

/** Reads the entries in order. One may bring content, and a later one make its message, as for a waiting ask. */
class Reader {
  readonly attributions: Growing[] = [];
  /** The entry of each ask, and the turn that was open then; null between turns. */
  readonly #asks = new Map<string, { readonly seq: number; readonly during: number | null }>();
  /** The asks that no turn has taken so far. */
  readonly #untaken = new Set<string>();
  /** The message of each call. */
  readonly #callers = new Map<string, string>();
  readonly #seen = new Set<string>();
  /** The entries that showed parts of the pending reply. */
  #shown: number[] = [];

  constructor({ conversation }: ConversationData) {
    const growing = this.#at(0);
    growing.turns.add(0);
    const { system, seed } = conversation;
    for (const message of [...(system === null ? [] : [system]), ...seed]) this.#attribute(0, message);
  }

  read({ seq, event, decided }: LaterEntry, before: ConversationData, after: ConversationData): void {
    const growing = this.#at(seq);
    const during = before.open?.number ?? null;
    if (event.type === "ask.received") this.#readAsk(event.askId, seq, during);
    this.#readMessages(seq, before, after);
    if ("effectId" in event) this.#readEffect(growing, event);
    switch (event.type) {
      case "ask.received":
      case "cancel.requested":
        // The shown part of a reply belongs to the turn that was open, even if that continues.
        if (during !== null && (event.type !== "ask.received" || event.partial !== undefined || interferes(decided)))
          growing.turns.add(during);
        if (event.partial !== undefined && after.open?.number === during) this.#shown.push(seq);
        if (event.type === "cancel.requested") this.#readWithdrawal(growing, event.askId);
        break;
      case "turn.annotated":
        growing.turns.add(event.turn);
        break;
      case "output.accepted":
      case "output.refused": {
        const checked = before.open === null ? undefined : at(before.open.messages, before.open.messages.length - 1);
        if (checked !== undefined) growing.messages.add(checked.id);
        break;
      }
      case "llm.progressed":
        this.#shown.push(seq);
        break;
      case "llm.completed":
      case "llm.failed": {
        const call = awaited(before, event.effectId);
        if (call?.of === "summary") growing.summary = call.summarising;
        else this.#shown = [];
        break;
      }
      default:
    }
  }

  /** An ask that no turn takes is attributed to the turn during which it arrived. */
  end({ queue, open }: ConversationData): void {
    for (const { askId } of [...queue, ...(open?.joining ?? [])]) this.#untaken.delete(askId);
    for (const askId of this.#untaken) this.#leave(askId);
  }

  #readAsk(askId: string, seq: number, during: number | null): void {
    // An earlier ask of the same id was forgotten.
    if (this.#untaken.has(askId)) this.#leave(askId);
    this.#untaken.add(askId);
    this.#asks.set(askId, { seq, during });
  }

  #leave(askId: string): void {
    const ask = this.#asks.get(askId);
    if (ask !== undefined && ask.during !== null) this.#at(ask.seq).turns.add(ask.during);
  }

  /** The reason of a withdrawal belongs to the turn during which the ask arrived. */
  #readWithdrawal(growing: Growing, askId: string | undefined): void {
    const during = askId === undefined || !this.#untaken.has(askId) ? null : (this.#asks.get(askId)?.during ?? null);
    if (during !== null) growing.turns.add(during);
  }

  /** An ask that opens a turn at once is taken by its own entry. */
  #readMessages(seq: number, before: ConversationData, after: ConversationData): void {
    const { inTurn, elsewhere } = messagesAround(before, after);
    const fresh = inTurn.filter(({ id }) => !this.#seen.has(id));
    const drafts = this.#asksTaken(seq, before, after);
    const own = fresh.slice(0, Math.max(fresh.length - drafts.length, 0));
    for (const [index, message] of fresh.slice(own.length).entries()) this.#attribute(drafts[index] ?? seq, message);
    for (const message of [...own, ...elsewhere.filter(({ id }) => !this.#seen.has(id))]) {
      this.#attribute(seq, message);
      if (message.role === "assistant") for (const shown of this.#shown) this.#attribute(shown, message);
    }
    if (after.open?.stage.type !== "responding") this.#shown = [];
  }

  /** Returns the entries that brought the messages of the asks that a turn takes. */
  #asksTaken(seq: number, before: ConversationData, after: ConversationData): readonly number[] {
    const turn = grownTurn(before, after);
    if (turn === null) return [];
    const known = before.open?.number === turn.number ? before.open.asks : [];
    const waiting: readonly QueuedAsk[] = [...before.queue, ...(before.open?.joining ?? [])];
    return turn.asks.slice(known.length).flatMap(({ askId }) => {
      const from = this.#asks.get(askId)?.seq ?? seq;
      this.#untaken.delete(askId);
      this.#at(from).turns.add(turn.number);
      const ask = waiting.find((each) => each.askId === askId);
      return ask === undefined ? [] : draftsOf(ask).map(() => from);
    });
  }

  #readEffect(growing: Growing, { type, effectId }: Extract<Event, { readonly effectId: string }>): void {
    const place = placeIn(effectId);
    const [, turn] = /^(\d+)(?:\.|!deadline)/.exec(place) ?? [];
    if (turn !== undefined) growing.turns.add(Number(turn));
    const [callId = ""] = place.split(/[#!]/);
    const caller = this.#callers.get(callId);
    // A withheld call holds its arguments. Other events about a call belong to its result.
    if (caller !== undefined) growing.messages.add(type === "tool.withheld" ? caller : callId);
  }

  #attribute(seq: number, message: Message): void {
    this.#seen.add(message.id);
    const growing = this.#at(seq);
    growing.messages.add(message.id);
    const turn = Number.parseInt(message.id, 10);
    if (!Number.isNaN(turn)) growing.turns.add(turn);
    for (const { callId } of toolCallsOf(message)) this.#callers.set(callId, message.id);
  }

  #at(seq: number): Growing {
    return (this.attributions[seq] ??= { seq, turns: new Set(), messages: new Set(), summary: null });
  }
}

const interferes = (decided: Decided = {}): boolean => decided.joins === true || decided.interrupts === true;

/** The turn to which an entry added messages. */
interface GrownTurn {
  readonly number: number;
  readonly asks: readonly Ask[];
  readonly messages: Chunks<Message>;
}

/** Returns the turn that an entry left open or closed; null if it did neither. */
const grownTurn = (before: ConversationData, after: ConversationData): GrownTurn | null => {
  const { turns } = after.conversation;
  if (after.open !== null) return after.open;
  return turns.length === before.conversation.turns.length ? null : (at(turns, turns.length - 1) ?? null);
};

/** Returns the messages that may have come with an entry: those of a turn, and those in no turn yet. */
const messagesAround = (
  before: ConversationData,
  after: ConversationData,
): { readonly inTurn: readonly Message[]; readonly elsewhere: readonly Message[] } => {
  const turn = grownTurn(before, after);
  const { system, appended } = after.conversation;
  const { open } = after;
  const results = callsOf(after).flatMap(({ result }) => result ?? []);
  return {
    inTurn:
      turn === null ? [] : from(turn.messages, before.open?.number === turn.number ? before.open.messages.length : 0),
    elsewhere: [...(system === null ? [] : [system]), ...appended, ...(open?.waiting ?? []), ...results],
  };
};

const from = (messages: Chunks<Message>, first: number): readonly Message[] => {
  const found: Message[] = [];
  for (let index = first; index < messages.length; index++) {
    const message = at(messages, index);
    if (message !== undefined) found.push(message);
  }
  return found;
};
