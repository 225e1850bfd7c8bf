import { canonicalText, digestOf, type State, type Turn } from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import type { HostContext } from "../context/host-context.ts";
import { isInJournal, partsMax } from "../turn-log/log.ts";
import { type AskPart, partsAwaited } from "../turn-log/parts.ts";
import { completeLog, completeOpenLog, replayOf } from "../turn-log/replay.ts";
import { partOf, StoredParts } from "../turn-log/sink.ts";
import { TurnWriter } from "../turn-log/log.ts";

/**
 * Writes the logs of the turns of a thread that another host holds: from its journal, from the parts that its holder
 * writes to the store, and from the parts that an engine reports. A part that an entry shows marks a place in the
 * order. Parts that were heard after it wait until the journal was read that far.
 */
export class FollowedLog extends TurnWriter {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #onWaiting: () => void;
  readonly #epoch: number;
  /** Null if parts are not read from the store: an engine reports them, or no host logs them. */
  readonly #stored: StoredParts | null;
  /** Whether an engine reports the parts that are shown. */
  isHeard = false;
  #step = 0;
  readonly #heard: HeardPart[] = [];
  /** How many reads of the journal have started, and the number of the last that has ended. */
  #begun = 0;
  #read = 0;
  /** The newest turn in the journal, and the newest that has ended there. */
  #newest = 0;
  #ended = 0;

  /** @param onWaiting called when the journal must be read before more is shown; null if no engine works on the thread. */
  constructor(followed: Followed, onWaiting: (() => void) | null) {
    const { threadId, host, asks } = followed;
    // Other hosts, and later uses of this one, number the parts that they make differently.
    const epoch = Number.parseInt(digestOf([host.owner, host.clock.now()]), 36);
    super(threadId, host.logs, epoch, null);
    this.#epoch = epoch;
    this.#threadId = threadId;
    this.#host = host;
    this.#onWaiting = onWaiting ?? (() => {});
    const isLogged = onWaiting === null && host.partLogging !== null;
    this.#stored = isLogged ? new StoredParts(threadId, host.partLogging, host.logs) : null;
    asks.recordWith(this);
  }

  /** Receives a part of a turn. Any other value is ignored. */
  hear(turn: number, given: unknown): void {
    const part = partOf(given);
    if (part === null) return;
    this.#heard.push({ turn, part, begun: this.#begun });
    this.#showHeard();
  }

  /** Reads the parts in the store. Called when new entries were fetched, before they are reported. Never rejects. */
  async readStored(): Promise<void> {
    await this.#stored?.read();
  }

  beginRead(): void {
    this.#begun++;
  }

  /** Marks the end of a read. Parts that were heard before it have their entry there, or need none. */
  endRead(): void {
    this.#read = this.#begun;
    this.#showHeard();
  }

  /** Sets the state up to which the journal is known, and makes earlier parts of the open turn from it. */
  knows(state: State): void {
    const { open, conversation } = state.context;
    this.#newest = open?.number ?? conversation.turns.length;
    this.#ended = conversation.turns.length;
    if (open === null) return;
    this.begin(
      open.number,
      open.asks.map(({ askId }) => askId),
    );
    const log = this.log(open.number);
    if (!this.isHeard || log.end === 0) completeOpenLog(log, this.#epoch, state);
  }

  /** Voids the parts that this host showed of the step in progress. */
  lost(turn: number): void {
    this.#host.logs.of(this.#threadId, turn)?.append(this.#epoch, { type: "thread.lost", turn });
  }

  /** Records a part of the journal, after all parts that were heard before it. */
  override record(turn: number, part: AskPart): void {
    this.#newest = Math.max(this.#newest, turn);
    const key = keyOf(turn, part);
    const index = this.#heard.findIndex((heard) => isInJournal(heard.part) && keyOf(heard.turn, heard.part) === key);
    for (const heard of this.#heard.splice(0, index + 1)) this.#show(heard);
    if (part.type === "turn.ended") this.#ended = turn;
    if (this.#stored === null || !this.log(turn).has(part)) super.record(turn, part);
  }

  /** Completes a turn before its end is shown: with the parts that were heard, and the rest from the journal. */
  complete(turn: Turn): void {
    const { number } = turn;
    const end = this.#heard.findIndex((heard) => heard.turn > number || isEndOf(heard, number));
    for (const heard of this.#heard.splice(0, end < 0 ? this.#heard.length : end)) this.#show(heard);
    completeLog(this.log(number), replayOf(turn));
  }

  completeOpen(state: State): void {
    const { open } = state.context;
    if (open === null) return;
    const log = this.log(open.number);
    if (this.isHeard && log.journalledStep === 0 && partsAwaited(state).length === 0) return;
    completeOpenLog(log, this.#epoch, state);
  }

  override end(): void {
    super.end();
    this.#stored?.end();
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
    if (!this.log(turn).isLate(part, this.#step)) super.record(turn, part);
  }
}

/** The thread that is followed. */
export interface Followed {
  readonly threadId: string;
  readonly host: HostContext;
  readonly asks: Asks;
}

interface HeardPart {
  readonly turn: number;
  readonly part: AskPart;
  /** How many reads of the journal had started by then. */
  readonly begun: number;
}

const isEndOf = ({ turn, part }: HeardPart, number: number): boolean => turn === number && part.type === "turn.ended";

const keyOf = (turn: number, part: AskPart): string => canonicalText({ turn, part });
