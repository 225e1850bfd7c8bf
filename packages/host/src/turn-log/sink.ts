import type { Clock } from "../ports/clock.ts";
import { type Lease, LeaseLostError, type PartLog } from "../ports/store.ts";
import { LogCursor } from "./cursor.ts";
import { type PlacedPart, textOfDelta, type TurnLog } from "./log.ts";

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
export class PartSink {
  readonly #logging: PartLogging;
  readonly #lease: Lease;
  /** The log that is being written, with a cursor at the first part that is not. */
  #written: { readonly log: TurnLog; readonly cursor: LogCursor; hasBatch: boolean } | null = null;
  #batches = 0;
  #cancel: (() => void) | null = null;
  #writing: Promise<void> | null = null;
  #over = false;

  constructor(logging: PartLogging, lease: Lease) {
    this.#logging = logging;
    this.#lease = lease;
  }

  /** Schedules a write after a part was appended to a log. */
  added(log: TurnLog): void {
    if (this.#over) return;
    if (this.#written?.log !== log) {
      this.#flush();
      this.#written = { log, cursor: new LogCursor(log, "newest"), hasBatch: false };
    }
    if (log.hasEnded) this.#end();
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
    const placed = placedBy(written.cursor, this.#lease.token);
    if (placed.length === 0) return;
    written.hasBatch = true;
    const before = this.#writing;
    const writing = this.#write(before, written.log.turn, bodyOf(placed)).finally(() => {
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

/** Reads the new parts of an epoch, each with the place before it. */
const placedBy = (cursor: LogCursor, epoch: number): readonly PlacedPart[] => {
  const placed: PlacedPart[] = [];
  for (let part = cursor.next(); part !== null; part = cursor.next()) {
    const { place } = cursor;
    if (place?.epoch !== epoch || part.type === "parts.dropped") continue;
    const offset = place.offset - (textOfDelta(part)?.length ?? 0);
    placed.push({ part, place: { epoch, index: place.index, offset } });
  }
  return placed;
};

/** Returns parts as the text that a store keeps: of each its index, its offset, and the part. */
const bodyOf = (parts: readonly PlacedPart[]): string =>
  JSON.stringify(parts.map(({ part, place: { index, offset } }) => [index, offset, part]));
