import { canonicalText, type State, type Turn } from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import type { PartPlace } from "../ask/part-place.ts";
import { partsMax } from "../ask/part-queue.ts";
import { type AskPart, partsAwaited } from "../ask/parts.ts";
import type { HostContext } from "../context/host-context.ts";
import { partOf } from "../shown/part-body.ts";
import { Recorder } from "../shown/recorder.ts";
import { notShown, replayOf } from "../shown/replay.ts";
import { epochOf, FollowedParts, type FollowedShown, isInJournal } from "./followed-parts.ts";
import { completeOpen } from "./known-parts.ts";

/**
 * Shows asks the news of their turns from the journal of a thread and from an engine, and keeps them for asks that
 * rejoin. A part that an entry shows marks a place in the order. Parts that were heard after it wait until the journal
 * was read that far.
 */
export class FollowedNews extends Recorder implements FollowedShown {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #asks: Asks;
  readonly #onWaiting: () => void;
  readonly #epoch: number;
  /** Whether an engine reports the parts that are shown. */
  isHeard = false;
  /** The step of the part that was heard last. */
  #step = 0;
  /** Parts that are not shown yet, oldest first. */
  readonly #heard: HeardPart[] = [];
  /** How many reads of the journal have started, and the number of the last that has ended. */
  #begun = 0;
  #read = 0;
  /** The newest turn in the journal, and the newest that has ended there. */
  #newest = 0;
  #ended = 0;

  /** @param onWaiting called when the journal must be read before more is shown. */
  constructor(threadId: string, host: HostContext, asks: Asks, onWaiting: () => void) {
    // Other hosts, and later uses of this one, number the parts that they hear differently.
    const epoch = epochOf(host);
    super(threadId, host.shown, epoch, null);
    this.#epoch = epoch;
    this.#threadId = threadId;
    this.#host = host;
    this.#asks = asks;
    this.#onWaiting = onWaiting;
  }

  /** Receives a part of a turn. Any other value is ignored. */
  hear(turn: number, given: unknown): void {
    const part = partOf(given);
    if (part === null) return;
    this.#heard.push({ turn, part, begun: this.#begun });
    this.#showHeard();
  }

  /** Marks the start of a read of the journal. */
  beginRead(): void {
    this.#begun++;
  }

  /** Marks the end of a read. Parts that were heard before it have their entry there, or need none. */
  endRead(): void {
    this.#read = this.#begun;
    this.#showHeard();
  }

  /**
   * Sets the state up to which the journal is known. Parts of the open turn that were shown before are made from the
   * journal.
   */
  knows(state: State): void {
    const { open, conversation } = state.context;
    this.#newest = open?.number ?? conversation.turns.length;
    this.#ended = conversation.turns.length;
    if (open === null) return;
    if (!this.isHeard) return this.completeOpen(state);
    const parts = this.#host.shown.open(this.#threadId, open.number);
    if (parts.parts.length === 0) completeOpen(parts, this.#epoch, state);
  }

  async readLog(): Promise<void> {}

  begun(): void {}

  lost(turn: number): void {
    this.#host.shown.of(this.#threadId, turn)?.add(this.#epoch, { type: "thread.lost", turn });
  }

  /** Keeps a part of the journal, after all parts that were heard before it. */
  override record(turn: number, part: AskPart): PartPlace | null {
    this.#newest = Math.max(this.#newest, turn);
    const key = keyOf(turn, part);
    const index = this.#heard.findIndex((heard) => isInJournal(heard.part) && keyOf(heard.turn, heard.part) === key);
    for (const heard of this.#heard.splice(0, index + 1)) this.#show(heard);
    if (part.type === "turn.ended") this.#ended = turn;
    return super.record(turn, part);
  }

  /** Completes a turn before its end is shown: with the parts that were heard, and the rest from the journal. */
  complete(turn: Turn): void {
    const { number } = turn;
    const end = this.#heard.findIndex((heard) => heard.turn > number || isEndOf(heard, number));
    for (const heard of this.#heard.splice(0, end < 0 ? this.#heard.length : end)) this.#show(heard);
    const parts = this.#host.shown.open(this.#threadId, number);
    for (const { index, part } of notShown(parts.parts, replayOf(turn))) {
      if (part.type === "turn.ended") continue;
      const place = parts.addOfJournal(index, part);
      if (!isInJournal(part)) this.#asks.show(number, part, place);
    }
  }

  completeOpen(state: State): void {
    const { open } = state.context;
    if (open === null) return;
    const parts = this.#host.shown.open(this.#threadId, open.number);
    if (this.isHeard && parts.journalledStep === 0 && partsAwaited(state).length === 0) return;
    for (const { part, place } of completeOpen(parts, this.#epoch, state))
      if (!isInJournal(part)) this.#asks.show(open.number, part, place);
  }

  override end(): void {
    super.end();
    const parts = this.#host.shown.of(this.#threadId, this.#newest);
    if (parts !== undefined) this.#host.shown.rest(this.#threadId, parts);
  }

  #showHeard(): void {
    for (let [first] = this.#heard; first !== undefined; [first] = this.#heard) {
      const mayWait = first.begun >= this.#read && this.#heard.length <= partsMax;
      if (mayWait && (first.turn > this.#newest || isInJournal(first.part))) return this.#onWaiting();
      this.#heard.shift();
      this.#show(first);
    }
  }

  #show({ turn, part }: HeardPart): void {
    if (isInJournal(part) || turn <= this.#ended) return;
    if ("step" in part) this.#step = part.step;
    if (this.#host.shown.of(this.#threadId, turn)?.isLate(part, this.#step) === true) return;
    this.#asks.show(turn, part, super.record(turn, part));
  }
}

/**
 * Shows the asks of a thread that another host holds the parts that this host logs, if hosts log them, and those of its
 * journal.
 */
export const followedShown = ({
  threadId,
  host,
  asks,
}: {
  readonly threadId: string;
  readonly host: HostContext;
  readonly asks: Asks;
}): FollowedShown => {
  if (host.partLogging !== null) return new FollowedParts(threadId, host, asks);
  const news = new FollowedNews(threadId, host, asks, () => {});
  asks.recorder = news;
  return news;
};

/** A part that an engine reported. */
interface HeardPart {
  readonly turn: number;
  readonly part: AskPart;
  /** How many reads of the journal had started by then. */
  readonly begun: number;
}

const isEndOf = ({ turn, part }: HeardPart, number: number): boolean => turn === number && part.type === "turn.ended";

const keyOf = (turn: number, part: AskPart): string => canonicalText({ turn, part });
