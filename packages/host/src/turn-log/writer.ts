import type { TurnLog } from "./log.ts";
import type { AskPart } from "./parts.ts";
import type { PartSink } from "./sink.ts";
import type { TurnLogs } from "./turn-logs.ts";

/** Keeps the parts that are shown of turns. */
export interface PartRecorder {
  record(turn: number, part: AskPart): void;
  /** Returns the log of a turn; null if none is kept here. */
  log(turn: number): TurnLog | null;
  /** The newest turn of which a part is kept; null if there is none. */
  readonly newest: number | null;
}

/** Writes the logs of the turns of a thread, one after the other, and into the store as well if there is a sink. */
export class TurnWriter implements PartRecorder {
  readonly #threadId: string;
  readonly #logs: TurnLogs;
  readonly #epoch: number;
  readonly #sink: PartSink | null;
  /** The log of the turn that was shown last. */
  #log: TurnLog | null = null;

  /** @param epoch the token of the lease */
  constructor(threadId: string, logs: TurnLogs, epoch: number, sink: PartSink | null) {
    this.#threadId = threadId;
    this.#logs = logs;
    this.#epoch = epoch;
    this.#sink = sink;
  }

  get newest(): number | null {
    return this.#log?.turn ?? null;
  }

  record(turn: number, part: AskPart): void {
    const log = this.#log?.turn === turn ? this.#log : this.log(turn);
    log.append(this.#epoch, part);
    // The text has the partial output already.
    if (part.type !== "output.partial") this.#sink?.added(log);
    if (part.type === "turn.ended") this.#logs.rest(this.#threadId, log);
  }

  log(turn: number): TurnLog {
    if (this.#log?.turn === turn) return this.#log;
    if (this.#log !== null) this.end();
    return (this.#log = this.#logs.open(this.#threadId, turn));
  }

  /** Ends the writing. */
  end(): void {
    if (this.#log !== null) this.#logs.rest(this.#threadId, this.#log);
  }
}
