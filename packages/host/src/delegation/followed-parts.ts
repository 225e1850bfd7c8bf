import type { Turn } from "@colloquy/machine";
import type { Asks } from "../ask/asks.ts";
import type { AskPart } from "../ask/parts.ts";
import type { HostContext } from "../context/host-context.ts";
import { replayOf } from "../shown/replay.ts";
import type { PartsReader } from "../shown/turn-parts.ts";
import { completeShown, PartLogReader } from "./known-parts.ts";

/** Shows asks what the holder of their thread writes to the store's log of parts, beside what is read in its journal. */
export class FollowedParts {
  readonly #threadId: string;
  readonly #host: HostContext;
  readonly #asks: Asks;
  readonly #log: PartLogReader;
  /** Of each turn that is shown: how far. */
  readonly #readers = new Map<number, PartsReader>();

  constructor(threadId: string, host: HostContext, asks: Asks) {
    this.#threadId = threadId;
    this.#host = host;
    this.#asks = asks;
    this.#log = new PartLogReader(host, threadId);
  }

  /** Reads what is new, and shows it to asks that have their turn. Never rejects. */
  async read(): Promise<void> {
    await this.#log.read();
    for (const turn of new Set([...this.#asks.inTurns()].map((ask) => ask.turn))) if (turn !== null) this.show(turn);
  }

  /** Shows the asks of a turn what was read of it and not shown yet. */
  show(turn: number): void {
    const reader = this.#readers.get(turn) ?? this.#host.shown.of(this.#threadId, turn)?.read();
    if (reader === undefined) return;
    this.#readers.set(turn, reader);
    for (let next = reader.next(); next !== null; next = reader.next())
      if (!isInJournal(next.part)) this.#asks.show(turn, next.part, next.place);
  }

  /** The same before the end of a turn is shown: what the log does not have, or not yet, the journal has. */
  complete(turn: Turn): void {
    const parts = this.#host.shown.open(this.#threadId, turn.number);
    completeShown(parts, replayOf(turn));
    this.show(turn.number);
    this.#readers.delete(turn.number);
    this.#host.shown.rest(this.#threadId, parts);
  }

  end(): void {
    this.#log.end();
  }
}

/** Whether it is shown when its entry is read. */
export const isInJournal = (part: AskPart): boolean => {
  if (part.type !== "signal") return inJournal.has(part.type);
  return part.signal.type === "turn.interrupted" || part.signal.type.startsWith("ask.");
};

const inJournal: ReadonlySet<AskPart["type"]> = new Set([
  "turn.started",
  "turn.ended",
  "approval.requested",
  "result.requested",
]);
