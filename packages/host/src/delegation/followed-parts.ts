import { digestOf, type State, type Turn } from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import type { AskPart } from "../ask/parts.ts";
import type { HostContext } from "../context/host-context.ts";
import { replayOf } from "../shown/replay.ts";
import type { PartsReader } from "../shown/turn-parts.ts";
import { completeOpen, completeShown, PartLogReader } from "./known-parts.ts";

/** Shows asks what the holder of their thread writes to the store's log of parts, and what its journal has before the log. */
export class FollowedParts implements FollowedShown {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #asks: Asks;
  readonly #log: PartLogReader;
  readonly #epoch: number;
  /** Of each turn that is shown: how far. */
  readonly #readers = new Map<number, PartsReader>();

  constructor(threadId: string, host: HostContext, asks: Asks) {
    this.#threadId = threadId;
    this.#host = host;
    this.#asks = asks;
    this.#log = new PartLogReader(host, threadId);
    this.#epoch = epochOf(host);
  }

  /** Shows what is new in the log to asks that have their turn. Never rejects. */
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

  /** Shows the asks of a turn what was read of it and not shown yet. */
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

/** Shows the asks of a thread that another host holds what is shown of their turns there: as it comes, where that is known, and what the journal has in any case. */
export interface FollowedShown {
  /** Called when new entries were fetched, and before they are reported. */
  readLog(): Promise<void>;
  /** The journal is about to be read. */
  beginRead(): void;
  /** It was read. */
  endRead(): void;
  /** The journal was read for the first time, up to here. */
  knows(state: State): void;
  /** The asks of a turn were shown its beginning. */
  begun(turn: number): void;
  /** What this host showed of the step that is under way is void. */
  lost(turn: number): void;
  /** Before the end of a turn is shown: what was not shown of it the journal has. */
  complete(turn: Turn): void;
  /** The same after an entry of a turn that goes on. */
  completeOpen(state: State): void;
  end(): void;
}

/** The epoch of what this process alone numbers so. */
export const epochOf = ({ owner, clock }: HostContext): number => Number.parseInt(digestOf([owner, clock.now()]), 36);

/** Whether it is shown when its entry is read. */
export const isInJournal = (part: AskPart): boolean => {
  if (part.type !== "signal") return part.type === "turn.started" || part.type === "turn.ended";
  const { type } = part.signal;
  return type === "turn.interrupted" || type === "output.refused" || type.startsWith("ask.");
};
