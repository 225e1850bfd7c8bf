import * as Either from "fp-ts/lib/Either.js";
import type { Decided } from "../conversation/decided.ts";
import type { Entry, LaterEntry } from "../conversation/entry.ts";
import { placeIn } from "../conversation/effect-id.ts";
import { outstanding } from "../conversation/outstanding.ts";
import type { State } from "../conversation/state.ts";
import type { JournalError } from "./fold.ts";
import { fold, foldEntry } from "./fold.ts";

/** What a copy is to be. */
export interface ForkInput {
  /** The id of the copy: another than that of the thread. */
  readonly threadId: string;
  /** The turn at its head, on the path or off it; 0 for the beginning. Default: the head. */
  readonly turn?: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The journal of a copy, and what of the thread is not in it. */
export interface ForkedJournal {
  readonly entries: readonly Entry[];
  /** What is under way or waits in the thread now, and stays there: effects and asks, by their ids. */
  readonly left: { readonly effects: readonly string[]; readonly asks: readonly string[] };
}

/**
 * The journal of a copy up to a turn: the entries up to the one that closed it, at the same seqs; `thread.forked`; and what
 * was said about its turns since (annotations, truncations, redactions, metadata). Turns, messages and digests are those of
 * the thread, nothing is under way, and nothing is run again. Messages that wait for the next turn are in none, and stay
 * behind. In words why there is no such copy.
 */
export const forkOf = (entries: readonly Entry[], input: ForkInput): Either.Either<string, ForkedJournal> => {
  const walked = closings(entries);
  if (Either.isLeft(walked)) return Either.left(`entry ${walked.left.seq}: ${walked.left.reason}`);
  const { closedBy, state } = walked.right;
  const { threadId, conversation } = state.context;
  if (input.threadId === threadId) return Either.left(`a copy of thread "${threadId}" needs another id than that`);
  const { turn = conversation.head, at } = input;
  const last = turn === 0 ? 0 : closedBy.get(turn);
  if (last === undefined) {
    const { length } = conversation.turns;
    return Either.left(`there is no closed turn ${turn}; there are ${length === 0 ? "none" : `1 to ${length}`}`);
  }
  const copy = new Copy(entries.slice(0, last + 1), input.threadId);
  // Before all else: while asks wait, most of the rest would be refused.
  copy.add({ type: "thread.forked", at, from: { threadId, turn } });
  // A turn that a move of the head closed is not where the head went.
  if (copy.head !== turn) copy.add({ type: "head.moved", at, to: turn });
  for (const entry of entries.slice(last + 1)) if (isLater(entry)) copy.keep(entry, turn);
  const { open, queue } = state.context;
  const asks = [...(open?.asks ?? []), ...(open?.joining ?? []), ...queue].map(({ askId }) => askId);
  return Either.right({ entries: copy.entries, left: { effects: outstanding(state).map(({ id }) => id), asks } });
};

/** Which entry closed each turn, and the state at the end. */
const closings = (
  entries: readonly Entry[],
): Either.Either<JournalError, { readonly closedBy: ReadonlyMap<number, number>; readonly state: State }> => {
  const folded = fold(entries);
  const begun = fold(entries.slice(0, 1));
  if (Either.isLeft(folded)) return folded;
  if (Either.isLeft(begun)) return begun;
  const closedBy = new Map<number, number>();
  let state = begun.right;
  for (const entry of entries) {
    if (!isLater(entry)) continue;
    const before = state.context.conversation.turns.length;
    state = foldEntry(state, entry);
    for (let turn = before + 1; turn <= state.context.conversation.turns.length; turn++) closedBy.set(turn, entry.seq);
  }
  return Either.right({ closedBy, state: folded.right });
};

/** A journal in the making, and the data that it comes to. */
class Copy {
  readonly entries: Entry[];
  #state: State;
  /** Where the entries of the thread stand in it that are kept. */
  readonly #seqs = new Map<number, number>();

  constructor(prefix: readonly Entry[], threadId: string) {
    this.entries = prefix.map((entry) =>
      isLater(entry)
        ? { ...entry, event: ofThread(entry.event, threadId) }
        : { ...entry, event: { ...entry.event, threadId } },
    );
    for (const { seq } of prefix) this.#seqs.set(seq, seq);
    const begun = fold(this.entries);
    // A prefix of a journal that was folded.
    if (Either.isLeft(begun)) throw new Error(`entry ${begun.left.seq}: ${begun.left.reason}`);
    this.#state = begun.right;
  }

  get head(): number {
    return this.#state.context.conversation.head;
  }

  add(event: LaterEntry["event"], decided: Decided = {}, marks: Pick<LaterEntry, "redacted"> = {}): void {
    const decision = Object.keys(decided).length === 0 ? {} : { decided };
    const entry: LaterEntry = { seq: this.entries.length, event, ...decision, ...marks };
    this.entries.push(entry);
    this.#state = foldEntry(this.#state, entry);
  }

  /** Keeps an entry from behind the copied ones, where it says something about them. No summary is being written that it could call off. */
  keep({ seq, event, decided: { summaryStale: _, ...decided } = {}, redacted }: LaterEntry, newest: number): void {
    const marks = redacted === undefined ? {} : { redacted };
    const added = this.entries.length;
    switch (event.type) {
      case "metadata.changed":
        this.add(event, decided, marks);
        break;
      case "turn.annotated":
      case "answer.truncated":
        if (event.turn <= newest) this.add(event, decided, marks);
        break;
      case "thread.redacted": {
        const seqs = event.seqs.flatMap((each) => this.#seqs.get(each) ?? []);
        if (seqs.length > 0) this.add({ ...event, seqs }, decided, marks);
        break;
      }
      default:
    }
    if (this.entries.length > added) this.#seqs.set(seq, added);
  }
}

/** An answer names the effect of the copy that it answers, as the copy would have asked for it. */
const ofThread = (event: LaterEntry["event"], threadId: string): LaterEntry["event"] =>
  "effectId" in event ? { ...event, effectId: `${threadId}/${placeIn(event.effectId)}` } : event;

const isLater = (entry: Entry): entry is LaterEntry => entry.event.type !== "thread.started";
