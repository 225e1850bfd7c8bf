import type { Clock } from "../ports/clock.ts";
import { type Lease, LeaseLostError, type PartLog, type PartBatchPlace } from "../ports/store.ts";
import { LogCursor } from "./cursor.ts";
import { type PlacedPart, textOfDelta, type TurnLog } from "./log.ts";
import type { AskPart } from "./parts.ts";
import type { TurnLogs } from "./log.ts";

/** The settings for writing the parts of a thread to the store's log. */
export interface PartLogging {
  readonly log: PartLog;
  readonly clock: Clock;
  /** How long parts wait for others, in milliseconds, before they are written as one batch. */
  readonly everyMs: number;
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

/** Reads the parts that the holders of a thread wrote to the store's log. Each read continues after the last. */
export class StoredParts {
  readonly #threadId: string;
  readonly #logging: PartLogging;
  readonly #logs: TurnLogs;
  readonly #read = new Set<TurnLog>();
  #after: PartBatchPlace | null = null;
  #isFailing = false;

  constructor(threadId: string, logging: PartLogging, logs: TurnLogs) {
    this.#threadId = threadId;
    this.#logging = logging;
    this.#logs = logs;
  }

  /** Appends new parts to the logs. Of failures in a row the first is reported. @param turn reads only this one */
  async read(turn?: number): Promise<void> {
    const { log: stored, clock, report } = this.#logging;
    const range = { at: clock.now(), after: this.#after, ...(turn === undefined ? {} : { turn }) };
    try {
      const batches = await stored.read(this.#threadId, range);
      for (const batch of batches) {
        const log = this.#logs.open(this.#threadId, batch.turn);
        this.#read.add(log);
        for (const part of partsIn(batch.body, batch.token)) log.appendShown(part);
        if (log.hasEnded) this.#logs.rest(this.#threadId, log);
        this.#after = { token: batch.token, number: batch.number };
      }
      this.#isFailing = false;
    } catch (thrown) {
      if (!this.#isFailing) report(thrown);
      this.#isFailing = true;
    }
  }

  end(): void {
    for (const log of this.#read) this.#logs.rest(this.#threadId, log);
  }
}

/**
 * Parses the body of a batch in a store's log of parts. Parts of an unknown type are left out: a later version may have
 * written them.
 *
 * @param epoch the token of the batch
 * @throws SyntaxError, TypeError for an invalid text
 */
export const partsIn = (body: string, epoch: number): readonly PlacedPart[] => {
  const items: unknown = JSON.parse(body);
  if (!Array.isArray(items)) throw new TypeError("it is not a list");
  return items.flatMap((item: unknown) => placedPartOf(item, epoch) ?? []);
};

const placedPartOf = (item: unknown, epoch: number): PlacedPart | null => {
  if (!Array.isArray(item)) throw new TypeError("it has an item that is not a list");
  // `Array.isArray` narrows to `any[]`.
  const [index, offset, part] = item as readonly unknown[];
  if (!isCount(index) || !isCount(offset) || !isPart(part)) throw new TypeError("it has an item that is not a part");
  return isKnown(part) ? { part, place: { epoch, index, offset } } : null;
};

/** Returns a part from elsewhere; null if it is invalid, or of a type that this version does not know. */
export const partOf = (value: unknown): AskPart | null => (isPart(value) && isKnown(value) ? value : null);

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Checks the members that are read first, which detects foreign texts. */
const isPart = (value: unknown): value is AskPart => {
  if (typeof value !== "object" || value === null || !("type" in value) || typeof value.type !== "string") return false;
  if (!value.type.endsWith(".delta")) return true;
  return "text" in value ? typeof value.text === "string" : "arguments" in value && typeof value.arguments === "string";
};

const isKnown = ({ type }: AskPart): boolean => Object.hasOwn(knownTypes, type);

const knownTypes: { readonly [Type in AskPart["type"]]: null } = {
  "turn.started": null,
  "step.started": null,
  "text.delta": null,
  "reasoning.delta": null,
  "refusal.delta": null,
  "toolCall.delta": null,
  toolCall: null,
  toolResult: null,
  "approval.requested": null,
  "step.ended": null,
  signal: null,
  "output.partial": null,
  "result.requested": null,
  "thread.forked": null,
  "wait.started": null,
  "wait.ended": null,
  "thread.lost": null,
  "replay.started": null,
  "parts.dropped": null,
  "turn.ended": null,
};
