import { ofJournal, type PartPlace, textOfDelta, type TurnLog, withText } from "./log.ts";
import type { AskPart } from "./parts.ts";

/**
 * Where a cursor starts: at the first part, after the newest part, at the newest part (which is read again), or after
 * the place of an earlier cursor.
 */
export type CursorStart = "first" | "end" | "newest" | PartPlace;

/** Reads the log of a turn at its own pace, each part once. Text that arrives meanwhile is read as one part. */
export class LogCursor {
  readonly #log: TurnLog;
  /** The position of the part that was read last. */
  #at: number;
  /** That part as it was when it was read, and how much of its text was read. */
  #part: AskPart | null = null;
  #read = 0;
  /** Whether partial outputs are read, and the newest that was. */
  readonly #isLive: boolean;
  #partial: AskPart | null = null;
  /** The place after the part that was read last; null before there is one. */
  #epoch: number | null = null;
  #index = 0;
  #offset = 0;
  /** The place after which it reads, until that was reached, and whether it was looked for. */
  #behind: PartPlace | null = null;
  #isFound = true;
  /** How many parts are missing before the next one. */
  #missing = 0;

  /** @param isLive whether partial outputs are read, which are shown at the moment only. */
  constructor(log: TurnLog, start: CursorStart, isLive: boolean = false) {
    this.#log = log;
    this.#isLive = isLive;
    this.#at = start === "end" ? log.end - 1 : start === "newest" ? log.end - 2 : -1;
    const part = log.at(this.#at);
    this.#part = part?.part ?? null;
    this.#read = part?.text?.length ?? 0;
    this.#partial = part?.partial ?? null;
    if (typeof start !== "object") return;
    this.#behind = start;
    this.#isFound = false;
    ({ epoch: this.#epoch, index: this.#index, offset: this.#offset } = start);
  }

  /** The place after the part that was read last; null before there is one. */
  get place(): PartPlace | null {
    if (this.#epoch === null) return null;
    return { turn: this.#log.turn, epoch: this.#epoch, index: this.#index, offset: this.#offset };
  }

  /**
   * Returns the next part; null while there is none.
   *
   * @param until the position before which it reads.
   */
  next(until: number = Infinity): AskPart | null {
    if (!this.#isFound) {
      const again = this.#find();
      if (again !== null) return again;
    }
    for (let part = this.#nextKept(until); part !== null; part = this.#nextKept(until)) {
      const unread = this.#behind === null ? part : this.#unreadOf(part, this.#behind);
      if (unread !== null) return unread;
    }
    return null;
  }

  /** Wakes a reader once, when there is more to read. */
  wakeLater(reader: Parameters<TurnLog["wakeLater"]>[0]): void {
    this.#log.wakeLater(reader);
  }

  /** Goes to the place after which it reads. If that is not kept, the parts start over. */
  #find(): AskPart | null {
    const { first, end } = this.#log;
    const behind = this.#behind;
    if (behind === null || first === end) return null;
    this.#isFound = true;
    const position = this.#log.positionOf(behind.epoch, behind.index);
    if (position === null) return this.#log.at(first)?.part.type === "replay.started" ? this.#begin() : this.#anew();
    this.#at = position - 1;
    this.#missing = Math.max((this.#log.at(position)?.index ?? 0) - behind.index - 1, 0);
    return null;
  }

  #nextKept(until: number): AskPart | null {
    const { first } = this.#log;
    if (this.#missing > 0 || this.#at < first - 1) return this.#missed(first);
    const last = this.#log.at(this.#at);
    if (last !== undefined && this.#part !== null) {
      if (last.part !== this.#part) return this.#piece(last);
      if (this.#isLive && last.partial !== this.#partial) return (this.#partial = last.partial);
    }
    const next = this.#at + 1 < until ? this.#log.at(this.#at + 1) : undefined;
    if (next === undefined) return null;
    this.#at++;
    this.#read = 0;
    this.#partial = null;
    return this.#piece(next);
  }

  #piece({ part, text, epoch, index, offset }: NonNullable<ReturnType<TurnLog["at"]>>): AskPart {
    const read = this.#read;
    this.#part = part;
    this.#epoch = epoch;
    this.#index = index;
    this.#read = text?.length ?? 0;
    this.#offset = offset + this.#read;
    // The usual reader has read all but the last piece.
    if (text === null || text.length - (textOfDelta(part)?.length ?? 0) === read) return part;
    return withText(part, text.slice(read));
  }

  /** Returns the part of a part after the place from which it reads; null for one before that. */
  #unreadOf(part: AskPart, behind: PartPlace): AskPart | null {
    if (part.type === "parts.dropped") return part;
    // The place was not reached yet.
    if (this.#epoch !== behind.epoch) return this.#anew();
    const unread = this.#index === behind.index ? this.#offset - behind.offset : this.#index - behind.index;
    if (unread < 0) return null;
    this.#behind = null;
    if (this.#index > behind.index) return part;
    const text = textOfDelta(part);
    return text === null || unread === 0 ? null : withText(part, text.slice(text.length - unread));
  }

  #begin(): null {
    this.#behind = null;
    this.#at = this.#log.first - 1;
    this.#part = null;
    return null;
  }

  /** Starts over from the first part. */
  #anew(): AskPart {
    this.#begin();
    this.#epoch = ofJournal;
    this.#index = 0;
    this.#offset = 0;
    return Object.freeze({ type: "replay.started", turn: this.#log.turn, step: 1, synthesised: false });
  }

  /** Returns the number of parts before the next one that were dropped unread. */
  #missed(first: number): AskPart {
    const count = Math.max(this.#missing, first - 1 - this.#at);
    this.#missing = 0;
    this.#at = Math.max(this.#at, first - 1);
    this.#part = null;
    const next = this.#log.at(this.#at + 1);
    this.#epoch = next?.epoch ?? 0;
    this.#index = (next?.index ?? 0) - 1;
    this.#offset = 0;
    return Object.freeze({ type: "parts.dropped", count });
  }
}

/** Returns the cursor of a place: a text that a caller can keep. */
export const cursorAt = ({ turn, epoch, index, offset }: PartPlace): string =>
  `${turn}.${epoch === ofJournal ? "journal" : epoch}.${index}.${offset}`;

/** Returns the place that a cursor names; null for a text that is not a cursor. */
export const placeOf = (cursor: string): PartPlace | null => {
  const [, turn, epoch, index, offset] = /^(\d{1,16})\.(journal|\d{1,16})\.(\d{1,16})\.(\d{1,16})$/u.exec(cursor) ?? [];
  if (turn === undefined) return null;
  return {
    turn: Number(turn),
    epoch: epoch === "journal" ? ofJournal : Number(epoch),
    index: Number(index),
    offset: Number(offset),
  };
};
