import * as Either from "fp-ts/lib/Either.js";
import { type Decided, type Entry, isLater, type LaterEntry } from "../conversation/protocol/entry.ts";
import type { CheckpointNamed, EventType, MessagePinned, ThreadRedacted } from "../conversation/protocol/event.ts";
import { outstanding } from "../conversation/read/outstanding.ts";
import type { State } from "../conversation/protocol/data.ts";
import { frozen, frozenCopy } from "../thread/plain-data.ts";
import { fold, foldEntry, foldVisiting, type JournalError } from "./fold.ts";
import { placeIn } from "../conversation/protocol/effect-id.ts";
import { isOnPath } from "../thread/thread.ts";

/** The request of a copy. */
export interface ForkInput {
  /** The id of the copy; it must differ from that of the thread. */
  readonly threadId: string;
  /** The turn at its head, on the path or off it; 0 for the beginning. Default: the head. */
  readonly turn?: number;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** The journal of a copy, and the parts of the thread that it does not contain. */
export interface ForkedJournal {
  readonly entries: readonly Entry[];
  readonly left: LeftBehind;
}

/** The parts of a thread that a copy does not contain, apart from turns. */
export interface LeftBehind {
  /** The ids of the thread's outstanding effects. */
  readonly effects: readonly string[];
  /** The ids of the asks that are open or wait in the thread. */
  readonly asks: readonly string[];
  /**
   * The entries after the copied turn that the copy does not contain, in order. These are messages that no closed turn
   * holds, system prompts, configurations, checkpoints and pins. Annotations of other turns (such as scores) are not
   * listed.
   */
  readonly entries: readonly LeftEntry[];
}

/** An entry of a thread that its copy does not contain. */
export interface LeftEntry {
  readonly seq: number;
  readonly type: EventType;
}

/**
 * Creates the journal of a copy up to a turn. It has the entries up to the one that closed the turn, at the same seqs,
 * then `thread.forked`, then later entries. Of these it always contains the metadata and everything about turns of the
 * copy (annotations, truncations, checkpoints, pins, redactions).
 *
 * At the head, the copy is the thread as it is now. It then also contains the system prompt, the configuration and the
 * messages that wait for the next turn. At an older turn, or one off the path, these are as they were then, and later
 * ones are listed in `left`. Asks that waited when the turn ended are among the copied entries, and are dropped there
 * as `left`.
 *
 * Turns, messages and digests equal those of the thread. Nothing is pending in the copy, and nothing runs again.
 * Returns an error text if there is no such copy.
 */
export const forkOf = (journal: readonly Entry[], input: ForkInput): Either.Either<string, ForkedJournal> => {
  const entries = frozenCopy(journal);
  const read = walked(entries);
  if (Either.isLeft(read)) return Either.left(`entry ${read.left.seq}: ${read.left.reason}`);
  const { closedBy, places, waiting, state } = read.right;
  const { threadId, conversation, open, queue } = state.context;
  if (input.threadId === threadId) return Either.left(`a copy of thread "${threadId}" needs another id than that`);
  const { turn = conversation.head, at } = input;
  const last = turn === 0 ? 0 : closedBy.get(turn);
  if (last === undefined) {
    const { length } = conversation.turns;
    return Either.left(`there is no closed turn ${turn}; there are ${length === 0 ? "none" : `1 to ${length}`}`);
  }
  const copy = new Copy(entries.slice(0, last + 1), { threadId: input.threadId, turn, at });
  // This comes first: while asks wait, most other entries would be refused.
  copy.add({ type: "thread.forked", at, from: { threadId, turn } });
  const later = entries.slice(last + 1).filter(isLater);
  const kept = copy.keep(later, { isWhole: turn === conversation.head, places, waiting });
  const newest = closedBy.get(conversation.turns.length) ?? 0;
  return Either.right({
    entries: frozen(copy.entries),
    left: {
      effects: outstanding(state).map(({ id }) => id),
      asks: [...(open?.asks ?? []), ...(open?.joining ?? []), ...queue].map(({ askId }) => askId),
      entries: later
        .filter(({ seq, event: { type } }) => !kept.has(seq) && isNamed(type, seq > newest))
        .map(({ seq, event: { type } }) => ({ seq, type })),
    },
  });
};

/** Returns whether an uncopied entry is listed. A message of a closed turn belongs to its turn. */
const isNamed = (type: EventType, isBehindAllTurns: boolean): boolean =>
  appends(type)
    ? isBehindAllTurns
    : ["system.changed", "system.reset", "thread.configured", "checkpoint.named", "message.pinned"].includes(type);

const appends = (type: EventType): boolean => type === "message.appended" || type === "round.appended";

interface Walked {
  /** The seqs of the entries that closed each turn. */
  readonly closedBy: ReadonlyMap<number, number>;
  /** The turns that checkpoints name, by the seqs of the entries that named them. */
  readonly places: ReadonlyMap<number, number | undefined>;
  /** The ids of the messages that wait for the next turn, by the seqs of the entries that brought them. */
  readonly waiting: ReadonlyMap<number, readonly string[]>;
  /** The state after the last entry. */
  readonly state: State;
}

const walked = (entries: readonly Entry[]): Either.Either<JournalError, Walked> => {
  const closedBy = new Map<number, number>();
  const places = new Map<number, number | undefined>();
  const waiting = new Map<number, readonly string[]>();
  const folded = foldVisiting(entries, ({ seq, event }, before, after) => {
    const { turns, appended, checkpoints } = after.context.conversation;
    const closed = before.context.conversation.turns.length;
    for (let turn = closed + 1; turn <= turns.length; turn++) closedBy.set(turn, seq);
    if (event.type === "checkpoint.named") places.set(seq, checkpoints[event.name]);
    const known = before.context.conversation.appended.length;
    if (appended.length === 0) waiting.clear();
    else if (appends(event.type) && after.context.open === null)
      waiting.set(
        seq,
        appended.slice(known).map(({ id }) => id),
      );
  });
  return Either.isLeft(folded) ? folded : Either.right({ closedBy, places, waiting, state: folded.right });
};

/** Facts about the thread that are needed to apply its later entries to a copy. */
export interface Since {
  /** True if the copy is the thread as it is now, not at an older turn. */
  readonly isWhole: boolean;
  /** The turns that checkpoints name, by the seqs of the entries that named them. */
  readonly places: ReadonlyMap<number, number | undefined>;
  /** The ids of the messages that wait for the next turn, by the seqs of the entries that brought them. */
  readonly waiting: ReadonlyMap<number, readonly string[]>;
}

/** A journal in the making, with its folded state. */
class Copy {
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

  /** Applies an entry. Returns whether it did; undefined for an entry that no copy applies. */
  #applies(entry: LaterEntry, since: Since): boolean | undefined {
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
        return this.#name(entry, event, since.places.get(entry.seq));
      case "message.pinned":
        return this.#pin(entry, event);
      case "thread.redacted":
        return this.#redact(entry, event);
      default:
    }
    return undefined;
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

  #name(entry: LaterEntry, event: CheckpointNamed, place: number | undefined): boolean {
    if (place === undefined || place > this.#turn) return false;
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
