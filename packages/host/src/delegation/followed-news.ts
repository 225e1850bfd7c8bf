import { canonicalText, digestOf, type State, type Turn } from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import type { PartPlace } from "../ask/part-place.ts";
import { partsMax } from "../ask/part-queue.ts";
import type { AskPart } from "../ask/parts.ts";
import type { HostContext } from "../context/host-context.ts";
import { partOf } from "../shown/part-body.ts";
import { Recorder } from "../shown/recorder.ts";
import { notShown, replayOf, replayOfOpen } from "../shown/replay.ts";
import { isInJournal } from "./followed-parts.ts";
import { completeShown } from "./known-parts.ts";

/**
 * Shows asks what an engine says is shown of their turns, and keeps it for those that rejoin them. What its entry shows too is
 * shown by the entry, and says where it belongs: what was heard behind it waits until the journal was read that far.
 */
export class FollowedNews extends Recorder {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #asks: Asks;
  readonly #onWaiting: () => void;
  /** Not shown yet, oldest first. */
  readonly #heard: HeardPart[] = [];
  /** How many times the journal was begun to be read, and which of these was the last to be over. */
  #begun = 0;
  #read = 0;
  /** The newest turn that the journal has, and the newest that it has the end of. */
  #newest = 0;
  #ended = 0;

  /** @param onWaiting called when the journal has to be read before more is shown. */
  constructor(threadId: string, host: HostContext, asks: Asks, onWaiting: () => void) {
    // Other hosts, and this one another time, number what they hear otherwise.
    const epoch = Number.parseInt(digestOf([host.owner, host.clock.now()]), 36);
    super(threadId, host.shown, epoch, null);
    this.#threadId = threadId;
    this.#host = host;
    this.#asks = asks;
    this.#onWaiting = onWaiting;
  }

  /** Something was shown of a turn. What is no part is passed over. */
  hear(turn: number, given: unknown): void {
    const part = partOf(given);
    if (part === null) return;
    this.#heard.push({ turn, part, begun: this.#begun });
    this.#showHeard();
  }

  /** The journal is about to be read. */
  beginRead(): void {
    this.#begun++;
  }

  /** It was read: what was heard before that has its entry there, or waits for none. */
  endRead(): void {
    this.#read = this.#begun;
    this.#showHeard();
  }

  /** The journal is known up to here; what was shown of the open turn before is what it has. */
  knows({ context: { open, conversation } }: State): void {
    this.#newest = open?.number ?? conversation.turns.length;
    this.#ended = conversation.turns.length;
    if (open === null) return;
    const parts = this.#host.shown.open(this.#threadId, open.number);
    if (parts.parts.length === 0) completeShown(parts, replayOfOpen(open));
  }

  /** Keeps what the journal shows, behind all that was heard before it. */
  override record(turn: number, part: AskPart): PartPlace | null {
    this.#newest = Math.max(this.#newest, turn);
    const key = keyOf(turn, part);
    const index = this.#heard.findIndex((heard) => isInJournal(heard.part) && keyOf(heard.turn, heard.part) === key);
    for (const heard of this.#heard.splice(0, index + 1)) this.#show(heard);
    if (part.type === "turn.ended") this.#ended = turn;
    return super.record(turn, part);
  }

  /** Before the end of a turn is shown: what was heard of it, and what was not the journal has. */
  complete(turn: Turn): void {
    const { number } = turn;
    const end = this.#heard.findIndex((heard) => heard.turn > number || isEndOf(heard, number));
    for (const heard of this.#heard.splice(0, end < 0 ? this.#heard.length : end)) this.#show(heard);
    this.#showMissing(number, replayOf(turn));
  }

  /** The same of a turn that goes on, where nothing is heard of it. */
  completeOpen({ context: { open } }: State): void {
    if (open !== null) this.#showMissing(open.number, replayOfOpen(open));
  }

  override end(): void {
    super.end();
    const parts = this.#host.shown.of(this.#threadId, this.#newest);
    if (parts !== undefined) this.#host.shown.rest(this.#threadId, parts);
  }

  #showMissing(turn: number, whole: readonly AskPart[]): void {
    const parts = this.#host.shown.open(this.#threadId, turn);
    for (const { index, part } of notShown(parts.parts, whole))
      if (!isInJournal(part)) this.#asks.show(turn, part, parts.addOfJournal(index, part));
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
    this.#asks.show(turn, part, super.record(turn, part));
  }
}

/** A part that was heard. */
interface HeardPart {
  readonly turn: number;
  readonly part: AskPart;
  /** How many times the journal had been begun to be read. */
  readonly begun: number;
}

const isEndOf = ({ turn, part }: HeardPart, number: number): boolean => turn === number && part.type === "turn.ended";

const keyOf = (turn: number, part: AskPart): string => canonicalText({ turn, part });
