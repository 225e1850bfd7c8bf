import * as Either from "fp-ts/lib/Either.js";
import { placeIn } from "../conversation/protocol/effect-id.ts";
import { type Decided, type Entry, isLater, type LaterEntry } from "../conversation/protocol/entry.ts";
import type { CheckpointNamed, MessagePinned, ThreadRedacted } from "../conversation/protocol/event.ts";
import type { State } from "../conversation/protocol/state.ts";
import { isOnPath } from "../thread/thread.ts";
import { fold, foldEntry } from "./fold.ts";

/** Facts about the thread that are needed to apply its later entries to a copy. */
export interface Since {
  /** True if the copy is the thread as it is now, not at an older turn. */
  readonly isWhole: boolean;
  /** The turns that checkpoints name, by the seqs of the entries that named them. */
  readonly places: ReadonlyMap<number, number>;
  /** The ids of the messages that wait for the next turn, by the seqs of the entries that brought them. */
  readonly waiting: ReadonlyMap<number, readonly string[]>;
}

/** A journal in the making, with its folded state. */
export class Copy {
  readonly entries: Entry[];
  /** The turn at its head. */
  readonly #turn: number;
  readonly #at: number;
  #state: State;
  /** The new seqs of the thread's entries that are kept. */
  readonly #seqs = new Map<number, number>();
  /** The new ids of messages whose id in the thread differs. */
  readonly #ids = new Map<string, string>();

  constructor(prefix: readonly Entry[], { threadId, turn, at }: { threadId: string; turn: number; at: number }) {
    this.entries = prefix.map((entry) =>
      isLater(entry)
        ? { ...entry, event: ofThread(entry.event, threadId) }
        : { ...entry, event: { ...entry.event, threadId } },
    );
    for (const { seq } of prefix) this.#seqs.set(seq, seq);
    const begun = fold(this.entries);
    // This is a prefix of a journal that was folded before.
    if (Either.isLeft(begun)) throw new Error(`entry ${begun.left.seq}: ${begun.left.reason}`);
    this.#state = begun.right;
    this.#turn = turn;
    this.#at = at;
  }

  add(event: LaterEntry["event"], decided: Decided = {}, marks: Pick<LaterEntry, "redacted"> = {}): void {
    const decision = Object.keys(decided).length === 0 ? {} : { decided };
    const entry: LaterEntry = { seq: this.entries.length, event, ...decision, ...marks };
    this.entries.push(entry);
    this.#state = foldEntry(this.#state, entry);
  }

  /** Applies the later entries that concern the copied turns, or the thread as it is. Returns their seqs. */
  keep(later: readonly LaterEntry[], since: Since): ReadonlySet<number> {
    const ids = new Set([...since.waiting.values()].flat());
    const isOfWaiting = ({ event }: LaterEntry): boolean =>
      event.type === "message.appended" ||
      event.type === "round.appended" ||
      (event.type === "message.pinned" && ids.has(event.message));
    const isRedaction = ({ event }: LaterEntry): boolean => event.type === "thread.redacted";
    const kept = new Set<number>();
    const apply = (entry: LaterEntry): void => {
      if (this.#applies(entry, since)) kept.add(entry.seq);
    };
    for (const entry of later) if (!isOfWaiting(entry) && !isRedaction(entry)) apply(entry);
    // The head may be at another turn: the last copied entry may have moved it away, and naming and pinning moved it
    // too.
    this.#moveTo(this.#turn);
    // A move of the head would turn these messages into a turn, so they come after it.
    for (const entry of later) if (isOfWaiting(entry)) apply(entry);
    // Redactions name entries of the copy, so they come last.
    for (const entry of later) if (isRedaction(entry)) apply(entry);
    return kept;
  }

  #applies(entry: LaterEntry, since: Since): boolean {
    const { event } = entry;
    switch (event.type) {
      case "metadata.changed":
        return this.#keep(entry);
      case "system.changed":
      case "system.reset":
      case "thread.configured":
        return since.isWhole && this.#keep(entry);
      case "turn.annotated":
      case "answer.truncated":
        return event.turn <= this.#turn && this.#keep(entry);
      case "message.appended":
      case "round.appended":
        return since.isWhole && this.#append(entry, since.waiting.get(entry.seq));
      case "checkpoint.named":
        return this.#name(entry, event, since.places.get(entry.seq) ?? 0);
      case "message.pinned":
        return this.#pin(entry, event);
      case "thread.redacted":
        return this.#redact(entry, event);
      default:
        return false;
    }
  }

  /** Adds an entry. `summaryStale` is removed, because the copy has no pending summary. */
  #keep({ seq, decided: { summaryStale: _, ...decided } = {}, redacted, event }: LaterEntry): true {
    this.#seqs.set(seq, this.entries.length);
    this.add(event, decided, redacted === undefined ? {} : { redacted });
    return true;
  }

  #append(entry: LaterEntry, ids: readonly string[] | undefined): boolean {
    if (ids === undefined) return false;
    this.#keep(entry);
    const { appended } = this.#state.context.conversation;
    for (const [index, id] of ids.entries()) this.#ids.set(id, appended.at(index - ids.length)?.id ?? id);
    return true;
  }

  #name(entry: LaterEntry, event: CheckpointNamed, place: number): boolean {
    if (place > this.#turn) return false;
    this.#moveTo(place);
    return this.#keep({ ...entry, event });
  }

  /** Pins a message, which must be on the path. */
  #pin(entry: LaterEntry, event: MessagePinned): boolean {
    const message = this.#ids.get(event.message) ?? event.message;
    const { conversation } = this.#state.context;
    const turn = Number.parseInt(message, 10);
    const isThere = event.pinned
      ? turn <= this.#turn || this.#ids.has(event.message)
      : conversation.pins.some((pin) => pin.message === message);
    if (!isThere) return false;
    if (event.pinned && turn > 0 && turn <= this.#turn && !isOnPath(conversation, turn)) this.#moveTo(turn);
    return this.#keep({ ...entry, event: { ...event, message } });
  }

  #redact(entry: LaterEntry, event: ThreadRedacted): boolean {
    const seqs = event.seqs.flatMap((each) => this.#seqs.get(each) ?? []).toSorted((one, other) => one - other);
    return seqs.length > 0 && this.#keep({ ...entry, event: { ...event, seqs } });
  }

  #moveTo(turn: number): void {
    if (this.#state.context.conversation.head !== turn) this.add({ type: "head.moved", at: this.#at, to: turn });
  }
}

/** Rewrites an answer so that it names the copy's effect. */
const ofThread = (event: LaterEntry["event"], threadId: string): LaterEntry["event"] =>
  "effectId" in event ? { ...event, effectId: `${threadId}/${placeIn(event.effectId)}` } : event;
