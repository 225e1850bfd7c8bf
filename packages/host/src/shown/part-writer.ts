import type { Clock } from "../ports/clock.ts";
import { type Lease, LeaseLostError, type PartLog } from "../ports/store.ts";
import { bodyOf } from "./part-body.ts";
import type { PartsReader, ShownPart, TurnParts } from "./turn-parts.ts";

/** The settings for writing the parts of a thread to the store's log. */
export interface PartLogging {
  readonly log: PartLog;
  readonly clock: Clock;
  /** How long parts wait for others, in milliseconds, before they are written as one batch. */
  readonly everyMs: number;
  /** How long a batch is kept, in milliseconds. */
  readonly keepMs: number;
  /** Called with the error that prevents the write of a batch. Nothing waits for the log, and nothing fails with it. */
  readonly report: (error: unknown) => void;
}

/**
 * Writes the shown parts of a thread to the store's log, in batches and in the background. A turn that ends before its
 * first batch is due is not written: the journal has it. Parts that could not be written are missing in the log, and a
 * reader gets `parts.dropped` in their place.
 */
export class PartWriter {
  readonly #logging: PartLogging;
  readonly #lease: Lease;
  /** The turn that is being written, with a reader at the first part that is not. */
  #written: { readonly parts: TurnParts; readonly reader: PartsReader; hasBatch: boolean } | null = null;
  #batches = 0;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> | null = null;
  #over = false;

  constructor(logging: PartLogging, lease: Lease) {
    this.#logging = logging;
    this.#lease = lease;
  }

  /** Schedules a write after a part of a turn was added. */
  added(parts: TurnParts): void {
    if (this.#over) return;
    if (this.#written?.parts !== parts) {
      this.#flush();
      this.#written = { parts, reader: parts.readNew(), hasBatch: false };
    }
    if (parts.hasEnded) this.#end();
    else this.#schedule();
  }

  /** Writes the remaining parts, and stops. Never rejects. */
  async end(): Promise<void> {
    this.#flush();
    this.#over = true;
    await this.#writing;
  }

  #end(): void {
    if (this.#written?.hasBatch === true) this.#flush();
    this.#cancelTimer();
    this.#written = null;
  }

  #schedule(): void {
    const { clock, everyMs } = this.#logging;
    this.#cancel ??= clock.wakeAt(clock.now() + everyMs, () => {
      this.#cancel = null;
      // A slow store gets fewer and larger batches.
      if (this.#writing === null) this.#flush();
      else this.#schedule();
    });
  }

  #cancelTimer(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #flush(): void {
    this.#cancelTimer();
    const written = this.#written;
    if (written === null || this.#over) return;
    const pieces: ShownPart[] = [];
    for (let piece = written.reader.nextPiece(); piece !== null; piece = written.reader.nextPiece())
      if (piece.place.epoch === this.#lease.token && piece.part.type !== "parts.dropped") pieces.push(piece);
    if (pieces.length === 0) return;
    written.hasBatch = true;
    const before = this.#writing;
    const writing = this.#write(before, written.parts.turn, bodyOf(pieces)).finally(() => {
      if (this.#writing === writing) this.#writing = null;
    });
    this.#writing = writing;
  }

  async #write(before: Promise<void> | null, turn: number, body: string): Promise<void> {
    await before;
    const { log, clock, keepMs, report } = this.#logging;
    const at = clock.now();
    try {
      await log.append(this.#lease, { number: this.#batches++, turn, body, at, until: at + keepMs });
    } catch (thrown) {
      // The loop notices it by itself.
      if (thrown instanceof LeaseLostError) this.#over = true;
      else report(thrown);
    }
  }
}
