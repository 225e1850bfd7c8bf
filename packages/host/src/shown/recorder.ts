import type { PartRecorder } from "../ask/asks.ts";
import type { PartPlace } from "../ask/part-place.ts";
import type { AskPart } from "../ask/parts.ts";
import type { PartWriter } from "./part-writer.ts";
import type { ShownTurns } from "./shown-turns.ts";
import type { TurnParts } from "./turn-parts.ts";

/** Keeps the parts that the holder of a thread shows: in memory, and in the store's log if there is one. */
export class Recorder implements PartRecorder {
  readonly #threadId: string;
  readonly #shown: ShownTurns;
  readonly #epoch: number;
  readonly #writer: PartWriter | null;
  /** The turn of the part that was shown last. */
  #parts: TurnParts | null = null;

  /** @param epoch the token of the lease */
  constructor(threadId: string, shown: ShownTurns, epoch: number, writer: PartWriter | null) {
    this.#threadId = threadId;
    this.#shown = shown;
    this.#epoch = epoch;
    this.#writer = writer;
  }

  get newest(): number | null {
    return this.#parts?.turn ?? null;
  }

  record(turn: number, part: AskPart): PartPlace | null {
    // The text has the partial output already.
    if (part.type === "output.partial") return null;
    const parts = this.#open(turn);
    const place = parts.add(this.#epoch, part);
    this.#writer?.added(parts);
    if (parts.hasEnded) this.#shown.rest(this.#threadId, parts);
    return place;
  }

  hasShown(turn: number, step: number): boolean {
    return this.#open(turn).hasShown(step);
  }

  hasStartedStep(turn: number, step: number): boolean {
    return this.#open(turn).hasStartedStep(step);
  }

  hasEndedStep(turn: number, step: number): boolean {
    return this.#open(turn).hasEndedStep(step);
  }

  /** Ends the recording. */
  end(): void {
    if (this.#parts !== null) this.#shown.rest(this.#threadId, this.#parts);
  }

  #open(turn: number): TurnParts {
    if (this.#parts?.turn !== turn) {
      if (this.#parts !== null) this.#shown.rest(this.#threadId, this.#parts);
      this.#parts = this.#shown.open(this.#threadId, turn);
    }
    return this.#parts;
  }
}
