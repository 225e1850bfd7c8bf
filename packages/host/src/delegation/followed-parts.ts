import { digestOf, type State, type Turn } from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import type { AskPart } from "../ask/parts.ts";
import type { HostContext } from "../context/host-context.ts";
import { replayOf } from "../shown/replay.ts";
import type { PartsReader } from "../shown/turn-parts.ts";
import { completeOpen, completeShown, PartLogReader } from "./known-parts.ts";

/**
 * Shows asks the parts that the holder of their thread writes to the store's log, and the parts of its journal from
 * before the log.
 */
export class FollowedParts implements FollowedShown {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #asks: Asks;
  readonly #log: PartLogReader;
  readonly #epoch: number;
  /** A reader of the parts of each turn that is shown. */
  readonly #readers = new Map<number, PartsReader>();

  constructor(threadId: string, host: HostContext, asks: Asks) {
    this.#threadId = threadId;
    this.#host = host;
    this.#asks = asks;
    this.#log = new PartLogReader(host, threadId);
    this.#epoch = epochOf(host);
  }

  /** Shows the new parts of the log to asks that have their turn. Never rejects. */
  async readLog(): Promise<void> {
    await this.#log.read();
    for (const turn of new Set([...this.#asks.inTurns()].map((ask) => ask.turn))) if (turn !== null) this.begun(turn);
  }

  beginRead(): void {}

  endRead(): void {}

  knows(state: State): void {
    const { open } = state.context;
    if (open !== null) completeOpen(this.#host.shown.open(this.#threadId, open.number), this.#epoch, state);
  }

  /** Shows the asks of a turn the parts that were read and not shown yet. */
  begun(turn: number): void {
    const reader = this.#readers.get(turn) ?? this.#host.shown.of(this.#threadId, turn)?.read();
    if (reader === undefined) return;
    this.#readers.set(turn, reader);
    for (let next = reader.next(); next !== null; next = reader.next())
      if (!isInJournal(next.part)) this.#asks.show(turn, next.part, next.place);
  }

  lost(turn: number): void {
    this.#host.shown.of(this.#threadId, turn)?.add(this.#epoch, { type: "thread.lost", turn });
  }

  complete(turn: Turn): void {
    const parts = this.#host.shown.open(this.#threadId, turn.number);
    completeShown(parts, replayOf(turn));
    this.begun(turn.number);
    this.#readers.delete(turn.number);
    this.#host.shown.rest(this.#threadId, parts);
  }

  completeOpen(state: State): void {
    this.knows(state);
    if (state.context.open !== null) this.begun(state.context.open.number);
  }

  end(): void {
    this.#log.end();
  }
}

/**
 * Shows the asks of a thread that another host holds the parts of their turns: live if these are reported or logged,
 * and in any case from the journal.
 */
export interface FollowedShown {
  /** Called when new entries were fetched, before they are reported. */
  readLog(): Promise<void>;
  /** Called before the journal is read. */
  beginRead(): void;
  /** Called after the journal was read. */
  endRead(): void;
  /** Called when the journal was read for the first time, with the state after it. */
  knows(state: State): void;
  /** Called when the asks of a turn were shown its start. */
  begun(turn: number): void;
  /** Called when the parts that this host showed of the step in progress are void. */
  lost(turn: number): void;
  /** Called before the end of a turn is shown: parts that were not shown are made from the journal. */
  complete(turn: Turn): void;
  /** Called after an entry of a turn that continues, likewise. */
  completeOpen(state: State): void;
  end(): void;
}

/** Returns the epoch of parts that only this process numbers. */
export const epochOf = ({ owner, clock }: HostContext): number => Number.parseInt(digestOf([owner, clock.now()]), 36);

/** Returns whether a part is shown when its entry is read. */
export const isInJournal = (part: AskPart): boolean => {
  if (part.type !== "signal") return part.type === "turn.started" || part.type === "turn.ended";
  const { type } = part.signal;
  return type === "turn.interrupted" || type === "output.refused" || type.startsWith("ask.");
};
